// What goes wrong between us and a database, as ToolFailures. The server's own words go to the log alone.
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { DatabaseError } from 'pg';
import type { ErrorType } from '../../contract/call/error-types.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';

type Row = readonly [type: ErrorType, reason: Reason, message: string];

const INVALID: Row = [
  'VALIDATION',
  'INVALID_PARAMETER',
  'The database cannot read an argument as the type it must have.',
];
const CONSTRAINT: Row = [
  'VALIDATION',
  'CONSTRAINT_VIOLATION',
  'The database refused a value: it breaks a constraint.',
];
const BUSY: Row = [
  'TRANSIENT',
  'CONCURRENT_CHANGE',
  'The statement met another one at work on the same data.',
];
const REPLANNED: Row = [
  'TRANSIENT',
  'SCHEMA_CHANGED',
  'The tables changed since the statement was prepared.',
];

/** By SQLSTATE, or by its class where the state itself is not listed. */
const ROWS: { readonly [state: string]: Row } = {
  '22003': INVALID,
  '22007': INVALID,
  '22008': INVALID,
  '22009': INVALID,
  '22021': INVALID,
  '22023': INVALID,
  '22P02': INVALID,
  '22P05': INVALID,
  '23': CONSTRAINT,
  '23505': ['CONFLICT', 'UNIQUE_VIOLATION', 'There is already a row with this key.'],
  '23P01': ['CONFLICT', 'EXCLUSION_VIOLATION', 'There is already a row that excludes this one.'],
  '25006': ['PERMISSION_DENIED', 'READ_ONLY', 'The tool may only read, and its statement tried to write.'],
  '26000': REPLANNED,
  '0A000': REPLANNED,
  '40001': BUSY,
  '40P01': BUSY,
  '55P03': BUSY,
  '42501': ['PERMISSION_DENIED', 'DATABASE_DENIED', "The database denied the tool's role access."],
};

/** The server's reports that say nothing about the statement: the gateway's own trouble. */
const UNAVAILABLE_CLASSES: ReadonlySet<string> = new Set(['08', '28', '3D', '53', '57', '58']);
/** A connection whose prepared statements no longer fit is not used again. */
const STALE_STATES: ReadonlySet<string> = new Set(['0A000', '26000']);

/** What an error in mid-statement means. Nothing was committed: whatever the statement did is undone. */
export function failureOf(error: Error): ToolFailure {
  if (!(error instanceof DatabaseError)) return connectionLost(error);
  const state = error.code ?? '';
  const kind = state.slice(0, 2);
  if (state === '57014') return timedOut(error);
  if (UNAVAILABLE_CLASSES.has(kind)) return unavailable('DATABASE_UNAVAILABLE', error);
  const [type, reason, message] = ROWS[state] ??
    ROWS[kind] ?? ['PERMANENT', 'STATEMENT_FAILED', 'The database could not run the statement.'];
  return new ToolFailure(type, message, {
    origin: 'tool',
    reason,
    ...(type === 'TRANSIENT' ? { retryable: true } : {}),
    partialSideEffects: false,
    details: { sqlstate_class: kind },
    cause: error,
  });
}

export function isStale(error: Error): boolean {
  return error instanceof DatabaseError && STALE_STATES.has(error.code ?? '');
}

export function connectFailure(error: Error | undefined, exhausted: boolean): ToolFailure {
  return unavailable(exhausted ? 'POOL_EXHAUSTED' : 'CONNECT_FAILED', error);
}

/** For a call whose time ended before a connection of the pool was free. */
export function poolExhausted(): ToolFailure {
  return unavailable('POOL_EXHAUSTED', undefined);
}

export function shuttingDown(): ToolFailure {
  return toolFailure('DRAINING', 'The gateway is shutting down.', { partialSideEffects: false });
}

export function rowTooLarge(maxBytes: number): ToolFailure {
  return toolFailure(
    'ROW_TOO_LARGE',
    `One row of the result is larger than the limit of ${maxBytes} bytes.`,
    { partialSideEffects: false, details: { max_bytes: maxBytes } },
  );
}

/** A write whose answer is too large to give is undone: nobody would know what it did. */
export function answerTooLarge(maxBytes: number): ToolFailure {
  return new ToolFailure(
    'OUTPUT_TOO_LARGE',
    `The answer is larger than the limit of ${maxBytes} bytes; nothing was written.`,
    {
      partialSideEffects: false,
      details: { max_bytes: maxBytes },
    },
  );
}

/** The COMMIT went out and no answer came: it may have happened. */
export function commitLost(error: Error): ToolFailure {
  return toolFailure('COMMIT_UNKNOWN', 'The connection was lost while the change was being committed.', {
    retryable: false,
    partialSideEffects: true,
    cause: error,
  });
}

function connectionLost(error: Error): ToolFailure {
  return unavailable('CONNECTION_LOST', error);
}

function timedOut(cause: Error): ToolFailure {
  return toolFailure('STATEMENT_TIMEOUT', 'The statement did not finish in time.', {
    partialSideEffects: false,
    cause,
  });
}

function unavailable(reason: keyof typeof MESSAGES, cause: Error | undefined): ToolFailure {
  return toolFailure(reason, MESSAGES[reason], { partialSideEffects: false, cause });
}

const MESSAGES = {
  DATABASE_UNAVAILABLE: 'The database is not available.',
  POOL_EXHAUSTED: 'All connections to the database are in use.',
  CONNECT_FAILED: 'No connection to the database could be made.',
  CONNECTION_LOST: 'The connection to the database was lost before it had answered.',
} satisfies Partial<Record<Reason, string>>;
