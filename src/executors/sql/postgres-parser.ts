// PostgreSQL's own lexer and parser (libpg-query, WASM): loaded once, and only where there is a tool that needs it.
import type * as LibPgQuery from 'libpg-query';

export interface Token {
  readonly text: string;
  /** Bytes of the UTF-8 text. */
  readonly start: number;
  readonly end: number;
}

/** The text is no statement of PostgreSQL's. */
export class SqlTextError extends Error {
  override readonly name = 'SqlTextError';
}

/** The release of PostgreSQL whose grammar the parser has. */
export const PARSER_RELEASE = 18;

let parser: typeof LibPgQuery | undefined;
let isBroken = false;

/** 30 ms and 1.7 MB of WASM: not for gateways without sql tools. */
export async function loadParser(): Promise<void> {
  if (parser !== undefined) return;
  const loaded = await import('libpg-query');
  await loaded.loadModule();
  parser = loaded;
}

/** Throws SqlTextError, without a reason: the parser's scanner gives none. */
export function scan(text: string): readonly Token[] {
  return guarded(({ scanSync }) => scanSync(text).tokens);
}

/** The statements as PostgreSQL's grammar reads them. Throws SqlTextError. */
export function parse(text: string): readonly unknown[] {
  return guarded(({ parseSync }) => (parseSync(text).stmts ?? []).map(({ stmt }) => stmt));
}

function guarded<T>(work: (loaded: typeof LibPgQuery) => T): T {
  if (parser === undefined) throw new Error('The parser of SQL is not loaded: await loadParser() first.');
  if (isBroken) {
    throw new Error(
      'The parser of SQL failed on an earlier statement: restart the gateway, without that tool.',
    );
  }
  try {
    return work(parser);
  } catch (error) {
    // What its scanner says of an error comes back as JSON that is none.
    if (error instanceof SyntaxError) throw new SqlTextError('', { cause: error });
    // Its other errors are plain ones; a stack overflow is a RangeError, a trap of WASM a RuntimeError.
    if (error instanceof Error && (error.name === 'SqlError' || error.name === 'Error'))
      throw new SqlTextError(error.message, { cause: error });
    // After a stack overflow or a trap its memory may be in any state, and a statement could be read wrongly.
    isBroken = true;
    throw new Error('The parser of SQL failed: the statement is nested too deeply.', { cause: error });
  }
}
