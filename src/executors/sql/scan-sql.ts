// Reads the text of one statement as PostgreSQL's lexer does, as far as needed to tell its code from its literals.

export interface ScannedSql {
  /** The statement with `$1 … $n` for its placeholders; without a semicolon at its end. */
  readonly text: string;
  /** The placeholders' names: the first is `$1`. */
  readonly names: readonly string[];
  /** Its first word, in lower case. */
  readonly command: string;
  /** Names that stand before a parenthesis as those of functions do, as PostgreSQL folds them. */
  readonly called: ReadonlySet<string>;
  /** Names in braces inside literals and quoted names, where nothing is filled in. */
  readonly bracedInLiterals: ReadonlySet<string>;
}

/** `column` counts UTF-16 code units of the statement from 1. */
export class SqlTextError extends Error {
  constructor(message: string, at: number) {
    super(`${message} (column ${at + 1})`);
    this.name = 'SqlTextError';
  }
}

type Kind =
  'space' | 'escape' | 'string' | 'quoted' | 'dollar' | 'word' | 'parameter' | 'placeholder' | 'other';

/** Tried in this order at each place. Block comments nest, and are read by hand. */
const TOKENS: readonly (readonly [Kind, RegExp])[] = [
  ['space', /(?:\s+|--[^\n\r]*)/y],
  ['escape', /[eE]'(?:[^'\\]|\\[\s\S]|'')*'/y],
  ['string', /(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*'/y],
  ['quoted', /"(?:[^"]|"")*"/y],
  ['dollar', /\$([A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$[\s\S]*?\$\1\$/y],
  ['parameter', /\$\d+/y],
  ['word', /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y],
  ['placeholder', /\{[A-Za-z_][A-Za-z0-9_]*\}/y],
  ['other', /[^]/y],
];

const WORD_CHARACTER = /[A-Za-z0-9_$\u0080-\uffff]/;

/** Throws SqlTextError for what is never meant: braces that are no placeholder, `$1`, `;`, unended literals. */
export function scanSql(source: string): ScannedSql {
  const scan = new Scan(source.replace(/[\s;]+$/, ''));
  return scan.run();
}

class Scan {
  readonly #source: string;
  readonly #numbers = new Map<string, number>();
  readonly #called = new Set<string>();
  readonly #braced = new Set<string>();
  #text = '';
  #command = '';
  /** The name just read, while nothing but space stands behind it. */
  #name: string | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  run(): ScannedSql {
    for (let at = 0; at < this.#source.length;) {
      const comment = endOfBlockComment(this.#source, at);
      const [kind, token] =
        comment === undefined
          ? tokenAt(this.#source, at)
          : (['space', this.#source.slice(at, comment)] as const);
      this.#text += this.#take(kind, token, at);
      at += token.length;
    }
    if (this.#command === '') throw new SqlTextError('Expected a statement, found none', 0);
    return {
      text: this.#text,
      names: [...this.#numbers.keys()],
      command: this.#command,
      called: this.#called,
      bracedInLiterals: this.#braced,
    };
  }

  /** What the token becomes. */
  #take(kind: Kind, token: string, at: number): string {
    if (kind === 'space') return token;
    const name = this.#name;
    this.#name = undefined;
    if (kind === 'placeholder')
      return this.#number(token.slice(1, -1), this.#source.charAt(at + token.length));
    if (kind === 'parameter') {
      throw new SqlTextError(`Found "${token}": write the argument's name in braces`, at);
    }
    if (kind === 'word') {
      this.#command ||= token.toLowerCase();
      this.#name = token.toLowerCase();
      return token;
    }
    if (kind === 'other') {
      if (token === '(' && name !== undefined) this.#called.add(name);
      refuse(token, this.#source, at);
      return token;
    }
    if (kind === 'quoted') this.#name = token.slice(1, -1).replaceAll('""', '"');
    return this.#literal(token);
  }

  /** Apart from the word or number that may stand beside it. */
  #number(name: string, next: string): string {
    const number = this.#numbers.get(name) ?? this.#numbers.size + 1;
    this.#numbers.set(name, number);
    const before = WORD_CHARACTER.test(this.#text.at(-1) ?? '') ? ' ' : '';
    return `${before}$${number}${WORD_CHARACTER.test(next) ? ' ' : ''}`;
  }

  #literal(token: string): string {
    for (const [, name = ''] of token.matchAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g)) this.#braced.add(name);
    return token;
  }
}

function tokenAt(source: string, at: number): readonly [Kind, string] {
  for (const [kind, pattern] of TOKENS) {
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0];
    if (found !== undefined) return [kind, found];
  }
  throw new SqlTextError('Found text that cannot be read', at);
}

/** Undefined where no block comment begins. */
function endOfBlockComment(source: string, at: number): number | undefined {
  if (!source.startsWith('/*', at)) return undefined;
  let depth = 0;
  const edge = /\/\*|\*\//g;
  edge.lastIndex = at;
  for (let found = edge.exec(source); found !== null; found = edge.exec(source)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  throw new SqlTextError('Found a comment that does not end', at);
}

function refuse(token: string, source: string, at: number): void {
  if (token === ';')
    throw new SqlTextError('Expected one statement, found ";" before the end of the text', at);
  if (token === "'" || token === '"') throw new SqlTextError(`Found a ${token} that is not closed`, at);
  if (token === '{' || token === '}') {
    throw new SqlTextError('Expected the name of an argument between braces, such as {id}', at);
  }
  if (token === '$') throw new SqlTextError('Found a "$" that begins no closed literal', at);
  if (token === '&' && /[uU]$/.test(source.slice(0, at)) && source.charAt(at + 1) === '"') {
    throw new SqlTextError('Found a name written as U&"…": write it plainly', at);
  }
  if (token === '\0') throw new SqlTextError('Found a NUL character', at);
}
