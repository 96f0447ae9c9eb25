// Where settings stand: the text of gateway.yaml as values, and the place of each.
import { readFileSync } from 'node:fs';
import { isMap, LineCounter, visit, type Document } from 'yaml';
import type { Problem } from '../contract/tool/loaded-tools.ts';
import { syntaxWords } from '../lib/tools-yaml/syntax-words.ts';
import { linesOf, MAX_ALIASES, parseYaml, yamlProblems } from '../lib/tools-yaml/yaml-text.ts';
import { ENVIRONMENT } from './environment.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Source {
  readonly file: string;
  readonly values: Record<string, unknown>;
  readonly problems: readonly Problem[];
  readonly document?: Document;
  readonly lines: LineCounter;
}

/** A problem for what cannot be read; a file that need not exist may be missing. `known`: its text, where it was read already. */
export function readSource(file: string, mustExist: boolean, known?: string): Source {
  let text: string;
  try {
    text = known ?? readFileSync(file, 'utf8');
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const problems =
      missing && !mustExist ? [] : [{ file, message: `cannot be read: ${(error as Error).message}` }];
    return { file, values: {}, problems, lines: new LineCounter() };
  }
  const lines = linesOf(text);
  const document = parseYaml(text);
  const problems = yamlProblems({ file, text, lineOf: (line) => line }, document);
  if (problems.length > 0) return { file, values: {}, problems, document, lines };
  let values: unknown;
  try {
    values = document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch (error) {
    const { line, col } = lines.linePos(firstLostAlias(document) ?? 0);
    const message = `cannot be read: ${syntaxWords((error as Error).message)}`;
    return { file, values: {}, problems: [{ file, line, column: col, message }], lines };
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    return {
      file,
      values: {},
      problems: [{ file, line: 1, column: 1, message: 'expected a map of settings' }],
      lines,
    };
  }
  return { file, values: values as Record<string, unknown>, problems, document, lines };
}

/** Where the first alias stands that names no anchor before it. */
function firstLostAlias(document: Document): number | undefined {
  let at: number | undefined;
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return undefined;
      at = alias.range?.[0];
      return visit.BREAK;
    },
  });
  return at;
}

/** What is wrong with a setting, at its place. */
export function problemAt(
  { path, message }: { readonly path: readonly string[]; readonly message: string },
  source: Source,
  env: Environment,
): Problem {
  return { ...positionOf(path, source, env), path: path.join('.'), message };
}

/** Where a setting stands: its environment variable, or the nearest key of it in the file. */
export function positionOf(
  path: readonly string[],
  source: Source,
  env: Environment,
): { file: string; line?: number; column?: number } {
  const variable = Object.entries(ENVIRONMENT).find(
    ([name, { path: at }]) => env[name] !== undefined && at.join('.') === path.slice(0, at.length).join('.'),
  );
  if (variable !== undefined) return { file: `environment ${variable[0]}` };
  for (let depth = path.length; depth > 0; depth -= 1) {
    const range = keyRange(source.document, path.slice(0, depth));
    if (range === undefined) continue;
    const { line, col } = source.lines.linePos(range);
    return { file: source.file, line, column: col };
  }
  return { file: source.file };
}

function keyRange(document: Document | undefined, path: readonly string[]): number | undefined {
  const parent = path.length === 1 ? document?.contents : document?.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return (document?.getIn(path, true) as { range?: [number] } | undefined)?.range?.[0];
  const pair = parent.items.find((item) => String((item.key as { value?: unknown }).value) === path.at(-1));
  return (pair?.key as { range?: [number] } | undefined)?.range?.[0];
}
