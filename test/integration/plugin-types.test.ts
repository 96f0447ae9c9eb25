// unified-tool-executor/plugin: what a stranger writes a plugin of his own with, from the package as npm packs it, outside this repository.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCustomExecutors } from '../../src/app/custom/custom-executors.ts';
import { loadCustomExtensions } from '../../src/app/custom/custom-extensions.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/plugins.md'), 'utf8');
const EXAMPLES = [
  'custom-extension/business-hours.ts',
  'custom-extension/slow-calls.ts',
  'custom-executor/words.ts',
];
/** To pack the package and to compile against it is work, and machines are busy. */
const PATIENCE_MS = 300_000;
/** What a stranger has beside it. */
const INSTALLED = ['zod', '@types/node', 'undici-types'];

const blocksOf = (language: string) =>
  [...PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, of, text = '']) =>
    of === language ? [text] : [],
  );

let dir: string;

beforeAll(() => {
  dir = tempDir();
  const modules = join(dir, 'node_modules');
  const own = join(modules, 'unified-tool-executor');
  mkdirSync(own, { recursive: true });
  mkdirSync(join(modules, '@types'));
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', dir];
  const [{ filename = '' } = {}] = JSON.parse(
    execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 }),
  ) as { filename?: string }[];
  execFileSync('tar', ['-xzf', join(dir, filename), '-C', own, '--strip-components=1']);
  for (const name of INSTALLED) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  const [config = ''] = blocksOf('json');
  writeFileSync(join(dir, 'tsconfig.json'), config);
  writeFileSync(join(dir, 'package.json'), '{ "type": "module", "private": true }');
}, PATIENCE_MS);

afterAll(() => removeDir(dir));

/** What the compiler says of these files, as the page has it set up. */
function compiled(...files: readonly string[]): string {
  const project = join(dir, 'tsconfig.only.json');
  writeFileSync(project, JSON.stringify({ extends: './tsconfig.json', files }));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', project], {
    cwd: dir,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

function written(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return name;
}

describe('the published types', { timeout: PATIENCE_MS }, () => {
  it('are those that the examples are written with', () => {
    const files = EXAMPLES.map((path) => {
      const name = path.replace('/', '-');
      copyFileSync(join(ROOT, 'examples', path), join(dir, name));
      return name;
    });
    expect(compiled(...files)).toBe('');
  });

  it('are those of docs/plugins.md, whose modules the gateway takes as they stand there', async () => {
    const files = blocksOf('ts').map((text, at) => written(`page-${at}.ts`, text));
    expect(compiled(...files)).toBe('');
    const of = (word: string) =>
      files
        .map((file) => ({ path: join(dir, file) }))
        .filter(({ path }) => readFileSync(path, 'utf8').includes(word));
    const { custom } = await loadCustomExtensions(of('export const plugin'));
    expect(custom.map(({ plugin: { name }, priority }) => [name, priority])).toEqual([
      ['argument-limit', 0],
      ['stamps', 10],
      ['no-secrets', 0],
    ]);
    const { plugins } = await loadCustomExecutors(of('export const executor'));
    expect(plugins.map(({ name }) => name)).toEqual(['constant']);
  });

  it('tell of each mistake where it stands', () => {
    const mistakes = `
import type { ExecutorModule, ExtensionModule, HookMethods, OwnExtension, ToolCall } from 'unified-tool-executor/plugin';
const named = { name: 'a', summary: 'A.' };
const layer = { stage: 'tool', onFailure: 'deny', prepare: () => undefined } as const;

// @ts-expect-error a port that is named in the type, and not in needs
export const unnamed: OwnExtension<Record<string, never>, ['clock']> = { ...named, create: () => layer };
// @ts-expect-error a port that there is not
export const unknownPort: OwnExtension<Record<string, never>, ['clok']> = { ...named, needs: ['clok'], create: () => layer };
export const taken: ExtensionModule<Record<string, never>, ['clock']> = () => ({
  ...named,
  needs: ['clock'],
  // @ts-expect-error a port that is not named
  create: ({ log }) => (log, layer),
});
// @ts-expect-error options that no schema describes
export const undescribed: OwnExtension<{ a: string }> = { ...named, create: () => layer };
export const otherSchema: ExtensionModule<{ a: string }> = ({ z }) => ({
  ...named,
  // @ts-expect-error a schema of other options
  optionsSchema: z.strictObject({ a: z.number() }),
  create: () => layer,
});
export class Wrong implements HookMethods {
  // @ts-expect-error what is given is a call
  before_execute(call: string): void {}
}
export const whenever: ExtensionModule = () => ({
  ...named,
  // @ts-expect-error a phase that there is not
  create: () => ({ ...layer, phases: ['sometimes'] }),
});
export const unprepared: ExtensionModule = () => ({
  ...named,
  // @ts-expect-error a layer is given the call and what is next
  create: () => ({ ...layer, prepare: () => (call: string) => call }),
});
export const executor: ExecutorModule<{ a: string }> = ({ z }) => ({
  ...named,
  optionsSchema: z.strictObject({ a: z.string() }),
  // @ts-expect-error an executor prepares
  create: () => ({ execute: async (call: ToolCall) => ({ data: call.id }) }),
});
`;
    expect(compiled(written('mistakes.ts', mistakes))).toBe('');
  });

  it('are types alone: at run time there is nothing to import', () => {
    const file = written(
      'value.ts',
      "import { ToolFailure } from 'unified-tool-executor/plugin';\nthrow new ToolFailure('INTERNAL', 'x');\n",
    );
    expect(compiled(file)).toContain('ToolFailure');
  });
});
