// The walks of CONTRIBUTING.md: the files that each has one write, the lines it adds to others, the commands it runs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const WALK = /^## (Add .+)\n([\s\S]*?)(?=^## )/gm;
/** With the paragraph before it, which ends with the path of its file. */
const BLOCK = /((?:^(?!```).+\n)*)\n*^```(\w+)\n([\s\S]*?)^```$/gm;
const PATH = /`((?:src|test)\/[\w./-]+\.ts)`:$/m;

export interface Walk {
  readonly title: string;
  readonly steps: readonly WalkStep[];
}

export interface FileStep {
  readonly kind: 'write' | 'change';
  readonly file: string;
  readonly text: string;
}

export type WalkStep = FileStep | { readonly kind: 'run'; readonly commands: string };

/** Throws Error for a block that does not say which file it is of. */
export function walksOf(page: string): readonly Walk[] {
  return [...page.matchAll(WALK)].map(([, title = '', text = '']) => ({
    title,
    steps: [...text.matchAll(BLOCK)].map(([, before = '', language = '', block = '']) =>
      stepOf(before, language, block),
    ),
  }));
}

function stepOf(before: string, language: string, text: string): WalkStep {
  if (language === 'sh') return { kind: 'run', commands: text };
  const file = PATH.exec(before)?.[1];
  if (file === undefined) throw new Error(`of which file is this block?\n${text}`);
  return { kind: language === 'diff' ? 'change' : 'write', file, text };
}

/** Throws Error where the lines beside which something is added are not there, or there twice. */
export function doInCheckout(step: FileStep, checkout: string): void {
  const path = join(checkout, step.file);
  if (step.kind === 'write') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, step.text);
    return;
  }
  let text = readFileSync(path, 'utf8');
  for (const hunk of step.text.split('@@\n')) {
    const lines = hunk.split('\n').slice(0, -1);
    const linesWith = (signs: string) =>
      lines.filter(([sign = '']) => signs.includes(sign)).map((line) => `${line.slice(1)}\n`);
    const [before, after] = [linesWith(' -').join(''), linesWith(' +').join('')];
    const pieces = text.split(before);
    if (pieces.length !== 2)
      throw new Error(`${step.file} has these lines ${pieces.length - 1} times:\n${before}`);
    text = pieces.join(after);
  }
  writeFileSync(path, text);
}
