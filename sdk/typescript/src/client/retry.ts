// When a call is sent again, and under which idempotency key: by what the gateway says of it, and never blindly.
import type { Refusal } from '../generated/gateway.ts';
import type { ConnectionError } from '../errors/gateway-error.ts';

export interface RetryPolicy {
  /** Tries in all. Waiting for the end of the same call, which is under way, is none. */
  readonly maxAttempts: number;
  /** The first pause where the gateway names none; doubled each time, with jitter. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

export const DEFAULT_RETRIES: RetryPolicy = { maxAttempts: 4, baseDelayMs: 250, maxDelayMs: 10_000 };
export const NO_RETRIES: RetryPolicy = { ...DEFAULT_RETRIES, maxAttempts: 1 };

/** What protects a call from being run twice. */
export interface Protection {
  readonly hasKey: boolean;
  /** The caller says that the call may run twice. */
  readonly mayRepeat: boolean;
}

export type Verdict =
  | { readonly again: false }
  | {
      readonly again: true;
      /** False: the key holds the outcome of a try that has ended, so the next needs another. */
      readonly sameKey: boolean;
      /** Not a try: the call that was sent before is under way. */
      readonly underWay?: true;
      readonly retryAfterMs?: number | undefined;
    };

const STOP: Verdict = { again: false };
/** Between the caller and the gateway, these say nothing of what became of the call. */
const PASSING = new Set([408, 425, 429, 502, 503, 504]);

export function afterRefusal({ error, meta }: Refusal, { hasKey, mayRepeat }: Protection): Verdict {
  const retryAfterMs = error.retry_after_ms ?? undefined;
  if (!error.retryable) return STOP;
  if (error.reason === 'IDEMPOTENCY_IN_FLIGHT')
    return { again: true, sameKey: true, underWay: true, retryAfterMs };
  if (error.reason === 'ACCEPTANCE_UNKNOWN')
    return hasKey ? { again: true, sameKey: true, retryAfterMs } : STOP;
  if (error.partial_side_effects && !mayRepeat) return STOP;
  // A call that was refused before it ran has not used its key; one that ran has.
  return { again: true, sameKey: !meta.replayed && meta.attempts === 0, retryAfterMs };
}

export function afterLoss(lost: ConnectionError, { hasKey, mayRepeat }: Protection): Verdict {
  if (lost.status !== undefined && !PASSING.has(lost.status)) return STOP;
  if (!lost.notSent && !hasKey && !mayRepeat) return STOP;
  return { again: true, sameKey: true, retryAfterMs: lost.retryAfterMs };
}

/** At least what the gateway asks for; without that, a random part of a time that doubles. */
export function delayMs(
  policy: RetryPolicy,
  attempt: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number {
  if (retryAfterMs !== undefined)
    return retryAfterMs + random() * Math.min(policy.baseDelayMs, retryAfterMs / 4 + 10);
  return random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** Math.min(attempt - 1, 30));
}

/** The key of a try: that of the call, and a number for each one that has ended before. */
export function keyOf(key: string, ended: number): string {
  return ended === 0 ? key : `${key}.${ended + 1}`;
}
