// One file's text into raw tools and connections: piece by piece where its shape allows, as a whole where it does not.
import { hash } from 'node:crypto';
import { isMap, isScalar, type Document } from 'yaml';
import type { Problem, RawDeclaration, SourcePosition } from '../../contract/tool/loaded-tools.ts';
import {
  parseWhole,
  readTopLevel,
  type ParsedConnection,
  type SourceText,
} from '../../lib/tools-yaml/parse-whole.ts';
import { locateIn, parseYaml, type Path, type YamlText } from '../../lib/tools-yaml/yaml-text.ts';
import { splitTools, type Piece, type SplitText } from './split-tools.ts';
import { parseElsewhere } from './parse-elsewhere.ts';
import {
  askThread,
  LARGE_TEXT,
  parseWholeElsewhere,
  tooLarge,
  valueOf,
  type ParseLimits,
} from './parse-large.ts';
import { parsePiece, pieceText, type ParsedPiece } from './parse-piece.ts';

export interface ParsedSource {
  readonly tools: readonly RawDeclaration[];
  /** References not yet resolved. */
  readonly connections: readonly ParsedConnection[];
  readonly problems: readonly Problem[];
}

export interface SourceFile extends SourceText {
  readonly baseDir: string;
}

/** Values of pieces by the sha256 of their text. Parsing fills it with what this text holds, and nothing else. */
export type PieceCache = Map<string, unknown>;

/** Reading a huge file must not hold up the calls in flight: other work gets its turn between pieces, large ones go elsewhere. */
export async function parseSource(
  source: SourceFile,
  cache: PieceCache,
  limits: ParseLimits,
): Promise<ParsedSource> {
  const split = splitTools(source.text);
  return (split && (await parsePieces(source, split, cache, limits))) ?? wholeSource(source, limits);
}

/** Undefined: something in it needs the whole text to be understood. */
async function parsePieces(
  source: SourceFile,
  split: SplitText,
  cache: PieceCache,
  limits: ParseLimits,
): Promise<ParsedSource | undefined> {
  const skeleton = skeletonText(source.file, split);
  if (skeleton.text.length > LARGE_TEXT) return undefined;
  const document = parseYaml(skeleton.text);
  if (document.errors.length + document.warnings.length > 0 || !hasGap(document, split)) return undefined;
  const tools: RawDeclaration[] = [];
  const problems: Problem[] = [];
  const current: PieceCache = new Map();
  const elsewhere = parseElsewhere(split.pieces, (text) => cache.has(hash('sha256', text)));
  for (const [index, piece] of split.pieces.entries()) {
    await limits.yieldIfDue();
    if (index === elsewhere?.from) await elsewhere.into(cache);
    const contentHash = hash('sha256', piece.text);
    const known = cache.has(contentHash);
    const parsed = known ? { value: cache.get(contentHash) } : await parsedPiece(source.file, piece, limits);
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

async function parsedPiece(file: string, piece: Piece, limits: ParseLimits): Promise<ParsedPiece> {
  if (piece.text.length <= LARGE_TEXT) return parsePiece(file, piece);
  const answer = await askThread({ file, ...piece }, limits);
  if (answer.kind === 'problems') return answer;
  if (answer.kind !== 'piece') return 'needs-whole';
  const place = { file, line: piece.linesBefore + 1, column: 1 };
  return valueOf(answer.json) ?? { problems: [tooLarge(place)] };
}

async function wholeSource(source: SourceFile, limits: ParseLimits): Promise<ParsedSource> {
  const { file, text, baseDir } = source;
  const isLarge = text.length > LARGE_TEXT;
  const whole = isLarge ? await parseWholeElsewhere({ file, text }, limits) : parseWhole(source);
  const { tools, connections, problems } = whole;
  return { tools: tools.map((tool) => ({ ...tool, baseDir })), connections, problems };
}
