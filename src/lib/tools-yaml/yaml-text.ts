// A YAML text that can be parsed and asked where a path stands. Nodes live only as long as someone asks.
import { isMainThread } from 'node:worker_threads';
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  YAMLParseError,
  type Document,
} from 'yaml';
import type { DescribedProblem } from '../text/describe-problem.ts';
import { syntaxFaults } from './syntax-faults.ts';

/** Text of a file, or of a part of one: `lineOf` tells the file's line from the text's. */
export interface YamlText {
  readonly file: string;
  readonly text: string;
  lineOf(line: number): number;
}

export type Path = readonly (string | number)[];

/** Line and column count from 1. */
export type Place = Required<Pick<DescribedProblem, 'file' | 'line' | 'column'>>;

/** How often one anchor may be repeated inside a declaration, repetitions of repetitions included. */
export const MAX_ALIASES = 100;

/** Who wrote thousands of keys twice mends the first, and sees the next. */
const MAX_PROBLEMS = 100;

const OPTIONS = {
  prettyErrors: false,
  stringKeys: true,
  // The library compares each key with all before it: 20,000 keys take 12 s. See refuseRepeatedKeys.
  uniqueKeys: false,
  merge: true,
  logLevel: 'error',
} as const;

export function parseYaml(text: string): Document.Parsed {
  const document = parseDocument(text, OPTIONS);
  refuseRepeatedKeys(document);
  return document;
}

/** As the library would say it, in time that grows with the text alone. */
function refuseRepeatedKeys(document: Document.Parsed): void {
  const waiting: unknown[] = [document.contents];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (isSeq(node)) for (const item of node.items) waiting.push(item);
    if (!isMap(node)) continue;
    const keys = new Set<unknown>();
    for (const { key, value } of node.items) {
      waiting.push(key, value);
      if (!isScalar(key)) continue;
      const [start = 0, end = start] = key.range ?? [];
      if (keys.has(key.value))
        document.errors.push(new YAMLParseError([start, end], 'DUPLICATE_KEY', 'Map keys must be unique'));
      keys.add(key.value);
    }
  }
  document.errors.sort((one, other) => one.pos[0] - other.pos[0]);
}

/** Warnings count: what the parser only guesses at is not for a gateway to run. */
export function yamlProblems(source: YamlText, document: Document.Parsed): readonly DescribedProblem[] {
  const errors = [...document.errors, ...document.warnings];
  if (errors.length === 0) return [];
  const lines = linesOf(source.text);
  // The parser catches its own overflow, once for every level that it gives up.
  const tooDeep = errors.find(({ message }) => message.includes('call stack'));
  if (tooDeep !== undefined)
    return [{ ...positionAt(source, lines, tooDeep.pos[0]), message: 'is nested too deeply to be read' }];
  return syntaxFaults(errors, source.text)
    .slice(0, MAX_PROBLEMS)
    .map(({ offset, message }) => ({
      ...positionAt(source, lines, offset),
      message: `not valid YAML: ${message}`,
    }));
}

/** Longer texts are not parsed again on the event loop, only to say where something stands. */
const MAX_LOCATED = 64 * 1024;

/**
 * Where a path stands: its key or its value, or else what is nearest to it. In a text too long to be parsed again that
 * is what stands at `around`.
 */
export function locateIn(source: YamlText, path: Path, what: 'key' | 'value', around = 0): Place {
  if (source.text.length > MAX_LOCATED && isMainThread)
    return positionAt(source, recentLines(source.text), around);
  const { document, lines } = reparse(source.text);
  return positionAt(source, lines, offsetOf(document, path, what));
}

/** Problems come in bunches: one text's nodes are kept until the event loop turns. */
let recent:
  | { readonly text: string; readonly document: Document.Parsed; readonly lines: LineCounter }
  | undefined;

function reparse(text: string): { readonly document: Document.Parsed; readonly lines: LineCounter } {
  if (recent?.text === text) return recent;
  if (recent === undefined) setImmediate(() => (recent = undefined));
  recent = { text, document: parseYaml(text), lines: linesOf(text) };
  return recent;
}

let recentCount: { readonly text: string; readonly lines: LineCounter } | undefined;

/** Problems come in bunches here, too. */
function recentLines(text: string): LineCounter {
  if (recentCount?.text === text) return recentCount.lines;
  if (recentCount === undefined) setImmediate(() => (recentCount = undefined));
  recentCount = { text, lines: linesOf(text) };
  return recentCount.lines;
}

export function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}

function positionAt(source: YamlText, lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { file: source.file, line: source.lineOf(line), column: col };
}

function offsetOf(document: Document.Parsed, path: Path, what: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    const found = childOf(isAlias(node) ? node.resolve(document) : node, step);
    if (found === undefined) return offset;
    const key = startOf(found.key);
    const value = startOf(found.value);
    const isLast = index === path.length - 1;
    offset = (isLast && what === 'key' ? (key ?? value) : (value ?? key)) ?? offset;
    node = found.value;
  }
  return offset;
}

function childOf(
  node: unknown,
  step: string | number,
): { readonly key?: unknown; readonly value: unknown } | undefined {
  if (isMap(node)) return node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  if (isSeq(node) && typeof step === 'number' && step in node.items) return { value: node.items[step] };
  return undefined;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
