import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionError } from '../errors/gateway-error.ts';
import type { ErrorType, Refusal } from '../generated/gateway.ts';
import { afterLoss, afterRefusal, DEFAULT_RETRIES, delayMs, keyOf } from './retry.ts';

const refusals = fc
  .record({
    reason: fc.constantFrom(
      'RATE_LIMIT',
      'IDEMPOTENCY_IN_FLIGHT',
      'ACCEPTANCE_UNKNOWN',
      'HTTP_503',
      'DRAINING',
    ),
    retryable: fc.boolean(),
    partial: fc.boolean(),
    replayed: fc.boolean(),
    attempts: fc.integer({ min: 0, max: 3 }),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 60_000 })),
  })
  .map(({ reason, retryable, partial, replayed, attempts, retryAfterMs }) => {
    const error = {
      type: 'UNAVAILABLE' as ErrorType,
      message: '',
      reason,
      retryable,
      partial_side_effects: partial,
    };
    return {
      ok: false,
      error: { ...error, origin: 'gateway', retry_after_ms: retryAfterMs, details: {} },
      meta: { replayed, attempts },
    } as unknown as Refusal;
  });
const protections = fc.record({ hasKey: fc.boolean(), mayRepeat: fc.boolean() });

/** Reasons that lead to the call which was sent before. */
const TO_THE_SAME = ['IDEMPOTENCY_IN_FLIGHT', 'ACCEPTANCE_UNKNOWN'];

describe('a refusal', () => {
  it('that is not retryable ends the call', () => {
    fc.assert(
      fc.property(refusals, protections, (refusal, protection) => {
        fc.pre(!refusal.error.retryable);
        expect(afterRefusal(refusal, protection)).toEqual({ again: false });
      }),
    );
  });

  it('behind which something may have changed is followed by another run only where the caller allows that', () => {
    fc.assert(
      fc.property(refusals, fc.boolean(), (refusal, hasKey) => {
        fc.pre(refusal.error.partial_side_effects);
        const verdict = afterRefusal(refusal, { hasKey, mayRepeat: false });
        const { reason } = refusal.error;
        const leadsBack = TO_THE_SAME.includes(reason) && (reason !== 'ACCEPTANCE_UNKNOWN' || hasKey);
        expect(!verdict.again || (verdict.sameKey && leadsBack)).toBe(true);
      }),
    );
  });

  it('of a call that has run takes another key', () => {
    fc.assert(
      fc.property(refusals, protections, (refusal, protection) => {
        fc.pre(!TO_THE_SAME.includes(refusal.error.reason));
        const verdict = afterRefusal(refusal, protection);
        const hasRun = refusal.meta.replayed || refusal.meta.attempts > 0;
        expect(!verdict.again || verdict.sameKey !== hasRun).toBe(true);
      }),
    );
  });
});

describe('an answer that was lost', () => {
  it('lets an unprotected call come again only where nothing was sent', () => {
    const status = fc.option(fc.integer({ min: 400, max: 599 }), { nil: undefined });
    fc.assert(
      fc.property(fc.boolean(), status, (notSent, status) => {
        const error = new ConnectionError('lost', { notSent, ...(status !== undefined && { status }) });
        const { again } = afterLoss(error, { hasKey: false, mayRepeat: false });
        expect(!again || notSent).toBe(true);
      }),
    );
  });
});

describe('the pause', () => {
  const chance = fc.double({ min: 0, max: 0.999, noNaN: true });
  const attempt = fc.integer({ min: 1, max: 2_000 });

  it('is never shorter than the gateway asks for', () => {
    fc.assert(
      fc.property(attempt, fc.integer({ min: 0, max: 60_000 }), chance, (attempt, retryAfterMs, random) => {
        expect(delayMs(DEFAULT_RETRIES, attempt, retryAfterMs, () => random)).toBeGreaterThanOrEqual(
          retryAfterMs,
        );
      }),
    );
  });

  it('is never longer than the policy allows, where the gateway names none', () => {
    fc.assert(
      fc.property(attempt, chance, (attempt, random) => {
        const ms = delayMs(DEFAULT_RETRIES, attempt, undefined, () => random);
        expect(ms).toBeLessThanOrEqual(DEFAULT_RETRIES.maxDelayMs);
      }),
    );
  });
});

describe('the key of a try', () => {
  it('is the call’s own, and differs for each try that has ended', () => {
    expect([0, 1, 2].map((ended) => keyOf('k', ended))).toEqual(['k', 'k.2', 'k.3']);
  });
});
