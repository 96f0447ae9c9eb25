// Answers of a worker, read as what they are: bytes from an untrusted process.
import { isErrorType } from '../../../contract/call/error-types.ts';
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import type { CallScrubber } from '../../../contract/call/tool-call.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { exceptionFailure, ToolFailure } from '../../../contract/call/tool-failure.ts';
import { inexactNumberIn } from '../../../lib/json/exact-json.ts';
import { boundOf, tooMuchIn, tooMuchInLarge, type TooMuch } from '../../../lib/json/json-bounds.ts';
import { LargeJsonError } from '../../../lib/large-json/limits.ts';
import { parseInSlices } from '../../../lib/large-json/parse-json.ts';

export type Answer =
  | { readonly ok: true; readonly data: JsonValue }
  | { readonly ok: false; readonly error: ReportedError };

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
/** The worker leaves more than twice as much: see SecretScrubber.cut. */
const MAX_MESSAGE = 500;
const NOT_JSON = 'the answer is not JSON in UTF-8';
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws ProtocolViolation, or ToolFailure where the answer is honest and its result cannot be passed on. */
export function readAnswer(content: Buffer): Answer {
  const { text, value } = parse(content, MAX_DEPTH + 1);
  const answer = answerIn(value);
  if (answer.ok) refuseUnsafeNumbers(text);
  return answer;
}

/** The same in slices, for one that is large. */
export async function readLargeAnswer(content: Buffer): Promise<Answer> {
  refuseTooMuch(await tooMuchInLarge(textOf(content), MAX_DEPTH + 1), MAX_DEPTH + 1);
  try {
    return answerIn(await parseInSlices(content, isUnsafe));
  } catch (error) {
    if (!(error instanceof LargeJsonError)) throw error;
    if (error.found !== undefined) throw unsafeNumber(error.found);
    if (error.reason === 'TOO_LONG') throw tooLong();
    throw new ProtocolViolation(NOT_JSON);
  }
}

/** Throws ProtocolViolation. */
function answerIn(value: JsonValue): Answer {
  if (!isJsonObject(value)) throw new ProtocolViolation('the answer is not an object');
  if (value['ok'] === true && value['data'] !== undefined) return { ok: true, data: value['data'] };
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
export function failureOf(error: ReportedError, { cut }: Pick<CallScrubber, 'cut'>): ToolFailure {
  if (error.exception !== null)
    return exceptionFailure(
      [error.traceback, `${error.exception}: ${error.message}`].filter(Boolean).join('\n'),
    );
  const type = isErrorType(error.type) ? error.type : 'PERMANENT';
  const { retryable } = error;
  return new ToolFailure(type, cut(error.message, MAX_MESSAGE), {
    origin: 'tool',
    retryable,
    ...(error.reason !== null && { reason: error.reason }),
  });
}

function parse(frame: Buffer, maxDepth: number): { readonly text: string; readonly value: JsonValue } {
  const text = textOf(frame);
  // A nesting of n needs 2n characters: short answers are spared the scan.
  refuseTooMuch(text.length > 2 * maxDepth ? tooMuchIn(text, maxDepth) : undefined, maxDepth);
  try {
    return { text, value: JSON.parse(text) as JsonValue };
  } catch {
    throw new ProtocolViolation(NOT_JSON);
  }
}

function textOf(frame: Buffer): string {
  try {
    return UTF8.decode(frame);
  } catch {
    throw new ProtocolViolation(NOT_JSON);
  }
}

function refuseTooMuch(tooMuch: TooMuch | undefined, maxDepth: number): void {
  if (tooMuch === 'levels')
    throw new ProtocolViolation(`the answer is nested more than ${maxDepth} levels deep`);
  if (tooMuch !== undefined) {
    throw toolFailure('TOO_MANY_VALUES', `The tool's result ${boundOf(tooMuch)}.`);
  }
}

function tooLong(): ToolFailure {
  return toolFailure('TOO_LONG', "The tool's result holds a name that is too long to be read.");
}

const INTEGER = /^-?\d+$/;

/** Python's integers have no limit; JSON readers round them in silence, and an id that is off by one is no id. */
function refuseUnsafeNumbers(text: string): void {
  const found = inexactNumberIn(text, isUnsafe);
  if (found !== undefined) throw unsafeNumber(found);
}

function unsafeNumber(found: string): ToolFailure {
  const message = `The tool's result holds the number ${found.slice(0, 40)}, which JSON readers round; it must be returned as a string.`;
  return toolFailure('UNSAFE_NUMBER', message);
}

/** Python writes its floats as they are read again, whatever their size. */
function isUnsafe(written: string): boolean {
  const value = Number(written);
  return INTEGER.test(written) ? !Number.isSafeInteger(value) : Math.abs(value) === Infinity;
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
