// The retry policy: whether a failed attempt may be followed by another one, and after how long.
import type { ErrorType } from '../../contract/call/error-types.ts';
import { reasonRow } from '../../contract/call/reasons/reasons.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { RetryPolicy } from '../../contract/tool/tool-spec.ts';

/** What an attempt needs at the least: with less left than this after the delay, none is begun. */
const MIN_ATTEMPT_MS = 50;

/** TIMEOUT is not among them: the call's time is over, and what it had set off may still be running. */
const TRANSIENT: ReadonlySet<ErrorType> = new Set(['TRANSIENT', 'UNAVAILABLE']);

/**
 * Full jitter: anywhere between nothing and the doubled base, so that callers who failed together do not come
 * back together. A time the other side asked for is never cut short; mayRetry weighs it against the deadline.
 * `attempt` is the number of the attempt that failed, from 1.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  attempt: number,
  random: () => number,
  retryAfterMs?: number,
): number {
  const ceiling = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 1));
  const jittered = random() * ceiling;
  return retryAfterMs !== undefined && retryAfterMs > jittered ? retryAfterMs : jittered;
}

export interface RetryQuestion {
  readonly function: ToolFunction;
  readonly failure: ToolFailure;
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number;
  readonly policy: RetryPolicy;
  readonly remainingMs: number;
  readonly delayMs: number;
}

export function mayRetry(question: RetryQuestion): boolean {
  const { failure, attempt, policy, remainingMs, delayMs } = question;
  return (
    attempt < policy.maxAttempts &&
    failure.retryable &&
    isTransient(failure) &&
    (mayRunTwice(question.function) || provesNotStarted(failure)) &&
    remainingMs > delayMs + MIN_ATTEMPT_MS
  );
}

/** Whether the class of the failure is one that may pass by itself. */
export function isTransient({ type, origin }: ToolFailure): boolean {
  return TRANSIENT.has(type) || (type === 'RATE_LIMIT' && origin === 'tool');
}

function mayRunTwice({ spec }: ToolFunction): boolean {
  return spec.metadata.idempotent || spec.metadata.readOnly;
}

/** Believed of the gateway only: a tool may write any word. */
export function provesNotStarted({ origin, reason, partialSideEffects }: ToolFailure): boolean {
  return (
    origin === 'gateway' &&
    (partialSideEffects === undefined ? reasonRow(reason)?.ranNothing === true : !partialSideEffects)
  );
}
