// ToolFailure: the one error that refuses or fails a call on purpose. Its message is public, its cause is not.
import type { JsonObject } from '../json.ts';
import type { Principal } from './principal.ts';
import { ERROR_TYPES, type ErrorOrigin, type ErrorType } from './error-types.ts';

export interface FailureDetails {
  /** An open UPPER_SNAKE word inside the type: SCHEMA_MISMATCH, TOOL_DISABLED … */
  readonly reason?: string;
  readonly origin?: ErrorOrigin;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly partialSideEffects?: boolean;
  /** Public, small, JSON. */
  readonly details?: JsonObject;
  /** Whose credential was good, where the request is refused for what it asks for with it. For records alone. */
  readonly by?: Principal;
  /** Goes to the log under the call id, never to the caller. */
  readonly cause?: unknown;
}

export class ToolFailure extends Error {
  readonly type: ErrorType;
  readonly reason: string;
  readonly origin: ErrorOrigin;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** Undefined: the core decides from where the call had got to. */
  readonly partialSideEffects: boolean | undefined;
  readonly details: JsonObject;
  readonly by: Principal | undefined;

  constructor(type: ErrorType, message: string, extra: FailureDetails = {}) {
    super(message, { cause: extra.cause });
    this.name = 'ToolFailure';
    this.type = type;
    this.reason = extra.reason ?? type;
    this.origin = extra.origin ?? ERROR_TYPES[type].origin;
    this.retryable = extra.retryable ?? ERROR_TYPES[type].retryable;
    this.retryAfterMs = extra.retryAfterMs;
    this.partialSideEffects = extra.partialSideEffects;
    this.details = extra.details ?? {};
    this.by = extra.by;
  }
}

const THREW =
  'The tool ended with an exception that it did not handle. Its operator finds the cause in the log, under the call id.';

/**
 * What a caller hears when a tool's own code throws: that it did, and nothing of what it said. A tool says what callers may
 * read in an error of its own: `ToolError` in Python, a `type` of the closed list in JavaScript.
 */
export function exceptionFailure(cause: unknown): ToolFailure {
  return new ToolFailure('PERMANENT', THREW, { origin: 'tool', reason: 'EXCEPTION', cause });
}
