// Judges an attempt that failed: does it say that the upstream is in trouble, that it is there, or nothing at all?
import { isServerError } from '../../contract/call/reasons/status-reason.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import { reasonRow } from '../../contract/call/reasons/reasons.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Outcome } from './circuit-breaker.ts';

export interface FailedAttempt {
  readonly error: unknown;
  readonly prepared: PreparedFunction;
  /** How long the attempt had, and how long the tool may take. */
  readonly spentMs: number;
  readonly timeoutMs: number;
}

/**
 * Only infrastructure counts against an upstream: a 5xx, no connection, a lost one, no answer in the tool's time. What a
 * tool reports itself is an answer. What never left the gateway, and what the caller cut short, says nothing: arguments
 * must neither open a circuit nor keep one closed.
 */
export function judgeAttempt({ error, prepared, spentMs, timeoutMs }: FailedAttempt): Outcome {
  if (!(error instanceof ToolFailure)) return 'unknown';
  const { type, origin, reason, retryable } = error;
  if (origin === 'tool') return type === 'TRANSIENT' && isServerError(error) ? 'failed' : 'answered';
  if (origin === 'caller') return 'unknown';
  if (type === 'TIMEOUT') {
    // A caller's short deadline, or what retries left of it, is no measure of the upstream.
    return prepared.runsOwnCode !== true && spentMs * 2 >= timeoutMs ? 'failed' : 'unknown';
  }
  if (type === 'TRANSIENT') return 'failed';
  // Some unavailability comes from the gateway itself, from who gives out tokens, or from one tool's own code.
  const isSpared = reasonRow(reason)?.sparesUpstream === true;
  return type === 'UNAVAILABLE' && retryable && !isSpared ? 'failed' : 'unknown';
}
