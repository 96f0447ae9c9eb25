// Reads the text of one statement with PostgreSQL's own parser: its placeholders become `$1 … $n`.
import { isPlaceholder } from './embedded-arguments.ts';
import { parse, scan, SqlTextError, type Token } from './postgres-parser.ts';

export interface StatementText {
  /** The statement with `$1 … $n` for its placeholders; without comments and semicolons at its end. */
  readonly text: string;
  /** The placeholders' names: the first is `$1`. */
  readonly names: readonly string[];
  /** As PostgreSQL's grammar calls it: `SelectStmt` for VALUES, TABLE and WITH … SELECT too. */
  readonly kind: string;
  /** Some part of it inserts, updates, deletes or locks rows. */
  readonly modifies: boolean;
  /** Names in braces inside literals and quoted names, where nothing is filled in. */
  readonly bracedInLiterals: ReadonlySet<string>;
}

/** In characters; and how deep the parser has to go is bounded by the number of tokens. */
export const MAX_LENGTH = 65_536;
const MAX_TOKENS = 3_000;
/** PostgreSQL's scanner reads a run of signs again for each sign that it takes from it: a long one would hold everybody up. */
const MAX_SIGNS = 256;
const LONG_RUN = new RegExp(`[-+*/<>=~!@#%^&|\`?]{${MAX_SIGNS + 1}}`);

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** `{name}`, or `{embedding.name}`. */
const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)\}/g;
const WORD_CHARACTER = /[A-Za-z0-9_$\u0080-\uffff]/;
const MODIFYING: ReadonlySet<string> = new Set([
  'InsertStmt',
  'UpdateStmt',
  'DeleteStmt',
  'MergeStmt',
  'lockingClause',
]);

/** Throws SqlTextError with a sentence. The parser must have been loaded. */
export function readStatement(source: string): StatementText {
  const tokens = tokensOf(source);
  const { text, names, bracedInLiterals } = numbered(source, tokens);
  const statements = parsed(text);
  const [statement] = statements;
  if (typeof statement !== 'object' || statement === null || statements.length > 1)
    throw new SqlTextError(`Expected one statement, found ${statements.length}`);
  const [kind = ''] = Object.keys(statement);
  return { text, names, kind, modifies: modifies(statement), bracedInLiterals };
}

/** Without comments, and without semicolons at the end. */
function tokensOf(source: string): readonly Token[] {
  if (source.includes('\0')) throw new SqlTextError('Found a NUL character');
  if (!source.isWellFormed()) throw new SqlTextError('Found half a character (a lone surrogate)');
  if (source === '') throw new SqlTextError('Expected a statement, found none');
  if (source.length > MAX_LENGTH) throw new SqlTextError(`Expected at most ${MAX_LENGTH} characters`);
  if (LONG_RUN.test(source))
    throw new SqlTextError(
      `Expected at most ${MAX_SIGNS} signs in a row such as + - * / < > =, in comments too`,
    );
  const all = scanned(source);
  if (all.length > MAX_TOKENS)
    throw new SqlTextError(`Expected at most ${MAX_TOKENS} words and signs, found ${all.length}`);
  const tokens = all.filter(({ text }) => !/^(?:--|\/\*)/.test(text));
  const last = tokens.findLastIndex(({ text }) => text !== ';');
  if (last < 0) throw new SqlTextError('Expected a statement, found none');
  return tokens.slice(0, last + 1);
}

function scanned(source: string): readonly Token[] {
  try {
    return scan(source);
  } catch (error) {
    if (!(error instanceof SqlTextError)) throw error;
    // The parser says what its scanner keeps to itself; NULL is read wherever an argument may stand.
    parsed(source.replaceAll(PLACEHOLDER, ' NULL '));
    throw new SqlTextError('PostgreSQL cannot split it into words');
  }
}

function parsed(text: string): readonly unknown[] {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof SqlTextError)) throw error;
    throw new SqlTextError(`PostgreSQL's parser refuses it: ${error.message}`, { cause: error.cause });
  }
}

function numbered(source: string, tokens: readonly Token[]) {
  const bytes = Buffer.from(source);
  const between = (start: number, end: number) => bytes.toString('utf8', start, end);
  const fail = (message: string, { start }: Token) =>
    new SqlTextError(`${message} (column ${between(0, start).length + 1})`);
  const numbers = new Map<string, number>();
  const bracedInLiterals = new Set<string>();
  let text = '';
  let at = 0;
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) break;
    if (/^\$\d+$/.test(token.text))
      throw fail(`Found "${token.text}": write the argument's name in braces`, token);
    if (token.text === ';') throw fail('Expected one statement, found ";" before the end of the text', token);
    const placeholder = token.text === '{' ? placeholderAt(tokens, index) : undefined;
    const name = placeholder?.name;
    if (placeholder !== undefined && !isPlaceholder(placeholder.name))
      throw fail(
        `Found {${placeholder.name}}: what has a dot is {embedding.<argument>}, {embeddings.model} or {embeddings.min_similarity}`,
        token,
      );
    if (name === undefined && (token.text === '{' || token.text === '}'))
      throw fail('Expected the name of an argument between braces, such as {id}', token);
    text += between(at, token.start);
    at = token.end;
    if (placeholder === undefined || name === undefined) {
      for (const [, braced = ''] of token.text.matchAll(PLACEHOLDER)) bracedInLiterals.add(braced);
      text += between(token.start, token.end);
      continue;
    }
    index += placeholder.tokens - 1;
    at = tokens[index]?.end ?? at;
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    text += apart(text.at(-1), `$${number}`, between(at, at + 4).at(0));
  }
  return { text, names: [...numbers.keys()], bracedInLiterals };
}

interface Placeholder {
  readonly name: string;
  /** How many it is made of. */
  readonly tokens: number;
}

/** `{name}` or `{name.name}` without anything between its parts. */
function placeholderAt(tokens: readonly Token[], index: number): Placeholder | undefined {
  const length = tokens[index + 2]?.text === '.' ? 5 : 3;
  const parts = tokens.slice(index, index + length);
  const isWhole = parts.every((part, at) => at === 0 || parts[at - 1]?.end === part.start);
  if (!isWhole || parts.length < length || parts.at(-1)?.text !== '}') return undefined;
  const names = parts.filter((_, at) => at % 2 === 1).map(({ text }) => text);
  return names.every((name) => NAME.test(name)) ? { name: names.join('.'), tokens: length } : undefined;
}

/** Apart from the word, number or `$` that may stand beside it. */
function apart(before: string | undefined, parameter: string, after: string | undefined): string {
  const isWord = (character: string | undefined) => character !== undefined && WORD_CHARACTER.test(character);
  return `${isWord(before) ? ' ' : ''}${parameter}${isWord(after) ? ' ' : ''}`;
}

/** Not by recursion: a tree is as deep as its statement is long. */
function modifies(statement: object): boolean {
  const open: unknown[] = [statement];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, value] of Object.entries(node)) {
      if (MODIFYING.has(key)) return true;
      if (typeof value === 'object') open.push(value);
    }
  }
  return false;
}
