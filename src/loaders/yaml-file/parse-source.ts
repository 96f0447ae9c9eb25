// One file's text into raw tools and connections: piece by piece where its shape allows, as a whole where it does not.
import { hash } from 'node:crypto';
import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type YAMLMap } from 'yaml';
import type { Problem, RawDeclaration, SourcePosition } from '../../contract/loaded-tools.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { splitTools, type Piece, type SplitText } from './split-tools.ts';
import { parseElsewhere } from './parse-elsewhere.ts';
import { parsePiece, pieceText } from './parse-piece.ts';
import { locateIn, MAX_ALIASES, parseYaml, yamlProblems, type Path, type YamlText } from './yaml-text.ts';

export interface ParsedSource {
  readonly tools: readonly RawDeclaration[];
  /** References not yet resolved. */
  readonly connections: readonly ParsedConnection[];
  readonly problems: readonly Problem[];
}

export interface ParsedConnection {
  readonly name: string;
  readonly value: unknown;
  readonly locate: (path: Path, what?: 'key' | 'value') => SourcePosition;
}

export interface SourceFile {
  readonly file: string;
  readonly baseDir: string;
  readonly text: string;
}

/** Values of pieces by the sha256 of their text. Parsing fills it with what this text holds, and nothing else. */
export type PieceCache = Map<string, unknown>;

const TOP_LEVEL = ['tools', 'connections'];

/** `breathe` is called between pieces: parsing a huge file must not hold up the calls in flight. */
export async function parseSource(
  source: SourceFile,
  cache: PieceCache,
  breathe: () => Promise<void>,
): Promise<ParsedSource> {
  const split = splitTools(source.text);
  return (split && (await parsePieces(source, split, cache, breathe))) ?? parseWhole(source);
}

/** Undefined: something in it needs the whole text to be understood. */
async function parsePieces(
  source: SourceFile,
  split: SplitText,
  cache: PieceCache,
  breathe: () => Promise<void>,
): Promise<ParsedSource | undefined> {
  const skeleton = skeletonText(source.file, split);
  const document = parseYaml(skeleton.text);
  if (document.errors.length + document.warnings.length > 0 || !hasGap(document, split)) return undefined;
  const tools: RawDeclaration[] = [];
  const problems: Problem[] = [];
  const current: PieceCache = new Map();
  const elsewhere = parseElsewhere(split.pieces, (text) => cache.has(hash('sha256', text)));
  for (const [index, piece] of split.pieces.entries()) {
    await breathe();
    if (index === elsewhere?.from) await elsewhere.into(cache);
    const contentHash = hash('sha256', piece.text);
    const known = cache.has(contentHash);
    const parsed = known ? { value: cache.get(contentHash) } : parsePiece(source.file, piece);
    if (parsed === 'needs-whole') return undefined;
    if ('problems' in parsed) {
      problems.push(...parsed.problems);
      continue;
    }
    current.set(contentHash, parsed.value);
    tools.push(new PieceDeclaration(source, piece, parsed.value, contentHash));
  }
  if (problems.length === 0) cache.clear();
  for (const [contentHash, value] of current) cache.set(contentHash, value);
  const rest = readTopLevel(skeleton, document);
  return { tools, connections: rest.connections, problems: [...problems, ...rest.problems] };
}

/** The pieces were cut from under a key `tools` that the parser sees in the same place. */
function hasGap({ contents }: Document.Parsed, { keyOffset }: SplitText): boolean {
  if (!isMap(contents)) return false;
  const pair = contents.items.find(({ key }) => isScalar(key) && key.range?.[0] === keyOffset);
  return pair !== undefined && isScalar(pair.value) && pair.value.value === null && pair.value.source === '';
}

function skeletonText(file: string, { skeleton, gapAt, gapLines }: SplitText): YamlText {
  return { file, text: skeleton, lineOf: (line) => (line <= gapAt ? line : line + gapLines) };
}

class PieceDeclaration implements RawDeclaration {
  readonly value: unknown;
  readonly contentHash: string;
  readonly baseDir: string;
  readonly #file: string;
  readonly #piece: Piece;

  constructor({ file, baseDir }: SourceFile, piece: Piece, value: unknown, contentHash: string) {
    this.value = value;
    this.contentHash = contentHash;
    this.baseDir = baseDir;
    this.#file = file;
    this.#piece = piece;
  }

  locate(path: Path, what: 'key' | 'value' = 'value'): SourcePosition {
    return locateIn(pieceText(this.#file, this.#piece), [0, ...path], what);
  }
}

/** The ordinary way, which understands all of YAML. Costs about half a second per megabyte, in one go. */
export function parseWhole(source: SourceFile): ParsedSource {
  const text: YamlText = { file: source.file, text: source.text, lineOf: (line) => line };
  const document = parseYaml(source.text);
  const broken = yamlProblems(text, document);
  if (broken.length > 0) return { tools: [], connections: [], problems: broken };
  const { items, connections, problems } = readTopLevel(text, document);
  const found: Problem[] = [...problems];
  const tools: RawDeclaration[] = [];
  for (const [index, item] of items.entries()) {
    const locate = (path: Path, what: 'key' | 'value' = 'value') =>
      locateIn(text, ['tools', index, ...path], what);
    const read = plainValue(item, document);
    if ('message' in read) {
      found.push({ ...locate([]), message: read.message });
      continue;
    }
    const [start = 0, end = 0] = item.range ?? [];
    const contentHash = hash('sha256', `${read.json}\n${source.text.slice(start, end)}`);
    tools.push({ value: read.value, contentHash, baseDir: source.baseDir, locate });
  }
  return { tools, connections, problems: found };
}

interface TopLevel {
  readonly items: readonly Node[];
  readonly connections: readonly ParsedConnection[];
  readonly problems: readonly Problem[];
}

function readTopLevel(source: YamlText, document: Document.Parsed): TopLevel {
  const { contents } = document;
  const at = (path: Path, what: 'key' | 'value', message: string): Problem => ({
    ...locateIn(source, path, what),
    message,
  });
  if (contents === null || isEmpty(contents)) return { items: [], connections: [], problems: [] };
  if (!isMap(contents)) {
    const problems = [at([], 'value', 'expected a map with the keys "tools" and "connections"')];
    return { items: [], connections: [], problems };
  }
  const problems = unknownKeys(contents).map(({ key, message }) => at([key], 'key', message));
  const tools = resolved(contents.get('tools', true), document);
  if (!isEmpty(tools) && !isSeq(tools))
    problems.push(at(['tools'], 'value', 'expected a list of tools, each beginning with "-"'));
  const connections: ParsedConnection[] = [];
  const map = resolved(contents.get('connections', true), document);
  if (!isEmpty(map) && !isMap(map))
    problems.push(at(['connections'], 'value', 'expected a map of connections by name'));
  for (const { key, value } of isMap(map) ? map.items : []) {
    const name = String((key as { value?: unknown }).value);
    const locate = (path: Path, what: 'key' | 'value' = 'value') =>
      locateIn(source, ['connections', name, ...path], what);
    const read = plainValue(value as Node | null, document);
    if ('message' in read)
      problems.push({ ...locate([]), path: `connections.${name}`, message: read.message });
    else connections.push({ name, value: read.value, locate });
  }
  return { items: isSeq(tools) ? (tools.items as Node[]) : [], connections, problems };
}

function unknownKeys(contents: YAMLMap): readonly { readonly key: string; readonly message: string }[] {
  const keys = contents.items.map(({ key }) => String((key as { value?: unknown }).value));
  return keys
    .filter((key) => !TOP_LEVEL.includes(key))
    .map((key) => {
      const near = didYouMean(key, TOP_LEVEL);
      const hint = near === undefined ? '' : `; did you mean "${near}"?`;
      return { key, message: `unknown key "${key}"; expected "tools" or "connections"${hint}` };
    });
}

type PlainValue = { readonly value: unknown; readonly json: string } | { readonly message: string };

function plainValue(node: Node | null, document: Document.Parsed): PlainValue {
  try {
    const value: unknown = node === null ? null : node.toJS(document, { maxAliasCount: MAX_ALIASES });
    // Fails on what an alias inside its own anchor makes.
    return { value, json: JSON.stringify(value) ?? 'null' };
  } catch (error) {
    return { message: `cannot be read: ${(error as Error).message.split('\n', 1)[0]}` };
  }
}

function resolved(node: unknown, document: Document.Parsed): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function isEmpty(node: unknown): boolean {
  return node === undefined || node === null || (isScalar(node) && node.value === null);
}
