// Judges an attempt that failed: does it say that the upstream is in trouble, that it is there, or nothing at all?
import { isServerError } from '../../contract/call/reasons/status-reason.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import { reasonRow } from '../../contract/call/reasons/reasons.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Outcome } from './circuit-breaker.ts';

export interface FailedAttempt {
  readonly error: unknown;
  readonly prepared: PreparedFunction;
  /** How long the attempt had: until its end or its deadline, whichever was first. That a timeout is noticed late adds nothing. */
  readonly givenMs: number;
  /** How long the tool may take. */
  readonly timeoutMs: number;
  /** How late the end of the attempt's time was noticed: 0 for all that ended before. */
  readonly lateMs: number;
  /** What the attempt was still waiting for inside the gateway. */
  readonly stalled?: ToolFailure | undefined;
}

/** The event loop, or the whole machine, held the gateway up for so long: what the upstream did meanwhile cannot be told. */
const HELD_UP_MS = 100;

/**
 * Only infrastructure counts against an upstream: a 5xx, no connection, a lost one, no answer in the tool's time. What a
 * tool reports itself is an answer. What never left the gateway, and what the caller cut short, says nothing: arguments
 * must neither open a circuit nor keep one closed.
 */
export function judgeAttempt(attempt: FailedAttempt): Outcome {
  const { error } = attempt;
  if (!(error instanceof ToolFailure)) return 'unknown';
  const { type, origin, reason, retryable } = error;
  if (origin === 'tool') return type === 'TRANSIENT' && isServerError(error) ? 'failed' : 'answered';
  if (origin === 'caller') return 'unknown';
  if (type === 'TIMEOUT') return isMeasure(attempt) ? 'failed' : 'unknown';
  if (type === 'TRANSIENT') return 'failed';
  // Some unavailability comes from the gateway itself, from who gives out tokens, or from one tool's own code.
  return type === 'UNAVAILABLE' && retryable && !sparesUpstream(reason) ? 'failed' : 'unknown';
}

/** Whether that it took too long says something of the upstream, and not of the caller, the tool's own code or the gateway. */
function isMeasure({ prepared, givenMs, timeoutMs, lateMs, stalled }: FailedAttempt): boolean {
  if (prepared.runsOwnCode === true || lateMs >= HELD_UP_MS) return false;
  // A caller's short deadline, or what retries left of it, is too little.
  if (givenMs * 2 < timeoutMs) return false;
  return stalled === undefined || !sparesUpstream(stalled.reason);
}

function sparesUpstream(reason: string): boolean {
  return reasonRow(reason)?.sparesUpstream === true;
}
