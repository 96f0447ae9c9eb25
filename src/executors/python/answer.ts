// Answers of a worker, read as what they are: bytes from an untrusted process.
import { isErrorType } from '../../contract/error-types.ts';
import { exceptionFailure } from '../../contract/exception-failure.ts';
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';

export type Answer =
  { readonly ok: true; readonly data: JsonValue } | { readonly ok: false; readonly error: ReportedError };

export interface ReportedError {
  readonly type: string;
  readonly reason: string | null;
  readonly message: string;
  readonly retryable: boolean;
  /** Class of the exception that tool code raised; null for everything else. */
  readonly exception: string | null;
  readonly traceback: string | null;
}

/** The worker did something an honest one never does. It must be killed. */
export class ProtocolViolation extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'ProtocolViolation';
  }
}

/** Levels of a result; an answer has one more around it. */
const MAX_DEPTH = 64;
const MAX_MESSAGE = 500;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws ProtocolViolation, or ToolFailure where the answer is honest and its result cannot be passed on. */
export function readAnswer(content: Buffer): Answer {
  const { text, value } = parse(content, MAX_DEPTH + 1);
  if (!isJsonObject(value)) throw new ProtocolViolation('the answer is not an object');
  if (value['ok'] === true && value['data'] !== undefined) {
    refuseUnsafeNumbers(text);
    return { ok: true, data: value['data'] };
  }
  if (value['ok'] === false) return { ok: false, error: reportedError(value['error']) };
  throw new ProtocolViolation('the answer has neither data nor error');
}

/** A partial result or what was said of the progress. Throws like readAnswer. */
export function readJson(content: Buffer): JsonValue {
  const { text, value } = parse(content, MAX_DEPTH);
  refuseUnsafeNumbers(text);
  return value;
}

/** The ToolFailure that an error reported by a worker stands for. */
export function failureOf(error: ReportedError): ToolFailure {
  if (error.exception !== null)
    return exceptionFailure(
      [error.traceback, `${error.exception}: ${error.message}`].filter(Boolean).join('\n'),
    );
  const type = isErrorType(error.type) ? error.type : 'PERMANENT';
  const { retryable } = error;
  return new ToolFailure(type, error.message.slice(0, MAX_MESSAGE), {
    origin: 'tool',
    retryable,
    ...(error.reason !== null && { reason: error.reason }),
  });
}

function parse(frame: Buffer, maxDepth: number): { readonly text: string; readonly value: JsonValue } {
  // A nesting of n needs 2n bytes: short answers are spared the scan.
  if (frame.length > 2 * maxDepth && nestsDeeperThan(frame, maxDepth)) {
    throw new ProtocolViolation(`the answer is nested more than ${maxDepth} levels deep`);
  }
  try {
    const text = UTF8.decode(frame);
    return { text, value: JSON.parse(text) as JsonValue };
  } catch {
    throw new ProtocolViolation('the answer is not JSON in UTF-8');
  }
}

const QUOTE = 0x22, BACKSLASH = 0x5c, OPEN_BRACKET = 0x5b, CLOSE_BRACKET = 0x5d, OPEN_BRACE = 0x7b, CLOSE_BRACE = 0x7d; // prettier-ignore

/** Looks at the bytes, before a parser does. */
function nestsDeeperThan(json: Buffer, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > limit) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
  }
  return false;
}

/** Cheap sign of a number that a double cannot hold: 16 digits in a row, or a three-digit exponent. */
const SUSPECT = /\d{16}|\d[eE]\+?\d{3}/;
const INTEGER = /^-?\d+$/;

type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Python's integers have no limit; JSON readers round them in silence, and an id that is off by one is no id. */
function refuseUnsafeNumbers(text: string): void {
  if (!SUSPECT.test(text)) return;
  let found: string | undefined;
  const look: Reviver = (_key, value, { source = '' }) => {
    if (typeof value !== 'number') return value;
    if (!Number.isFinite(value) || (!Number.isSafeInteger(value) && INTEGER.test(source))) found ??= source;
    return value;
  };
  JSON.parse(text, look as (this: unknown, key: string, value: unknown) => unknown);
  if (found === undefined) return;
  const message = `The tool's result holds the number ${found.slice(0, 40)}, which JSON readers round; it must be returned as a string.`;
  throw new ToolFailure('OUTPUT_INVALID', message, { reason: 'UNSAFE_NUMBER' });
}

function reportedError(value: unknown): ReportedError {
  if (!isJsonObject(value)) throw new ProtocolViolation('the reported error is not an object');
  const { type, reason, message, retryable, exception, traceback } = value;
  if (
    typeof type !== 'string' ||
    typeof message !== 'string' ||
    typeof retryable !== 'boolean' ||
    !isTextOrNull(reason) ||
    !isTextOrNull(exception) ||
    !isTextOrNull(traceback)
  ) {
    throw new ProtocolViolation('the reported error has fields of the wrong type');
  }
  return { type, reason, message, retryable, exception, traceback };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
