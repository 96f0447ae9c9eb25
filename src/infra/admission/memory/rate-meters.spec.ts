// Specs of RateMeters.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RateRule } from '../../../ports/admission-control.ts';
import { RateMeters } from './rate-meters.ts';

const T0 = 1_700_000_000_000;

const anyRule = fc.record({
  rate: fc.integer({ min: 1, max: 5000 }),
  periodMs: fc.constantFrom(1, 7, 1000, 60_000, 3_600_000, 86_400_000),
  burst: fc.integer({ min: 1, max: 50 }),
});

describe('RateMeters', () => {
  it('equals a slow model of GCRA in exact fractions, call by call', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(anyRule, gaps, (limits, gapsMs) => {
        const rule = { key: 'k', name: 'n', ...limits };
        const meters = new RateMeters(10);
        const model = new SlowGcra(limits);
        let now = T0;
        for (const gapMs of gapsMs) {
          now += gapMs;
          const granted = meters.refusing([rule], now) === undefined;
          expect(granted).toBe(model.allows(now));
          if (granted) {
            meters.spend([rule], now);
            model.spend(now);
          }
          expect(meters.states([rule], now)[0]).toMatchObject(model.state(now));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('a call that was let in elsewhere counts, and none is used up by more than all there is', () => {
    const rule = { key: 'k', name: 'n', rate: 1, periodMs: 1_000, burst: 3 };
    const meters = new RateMeters(10);
    for (let call = 0; call < 10; call += 1) meters.charge([rule], T0);
    expect(meters.refusing([rule], T0)).toBe(rule);
    expect(meters.retryAfterMs(rule, T0)).toBe(1_000);
    expect(meters.states([rule], T0 + 3_000)).toMatchObject([{ remaining: 3 }]);
  });

  it('never lets through more than the burst and the rate times the time, in any window', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 150 });
    const limits = fc.record({
      rate: fc.integer({ min: 1, max: 20 }),
      periodMs: fc.constant(1000),
      burst: fc.integer({ min: 1, max: 10 }),
    });
    fc.assert(
      fc.property(limits, gaps, (limits, gapsMs) => {
        const grantedAt = grantTimes({ key: 'k', name: 'n', ...limits }, gapsMs);
        for (const [first, from] of grantedAt.entries()) {
          for (let last = first; last < grantedAt.length; last += 1) {
            const windowMs = (grantedAt[last] ?? 0) - from;
            expect(last - first + 1).toBeLessThanOrEqual(
              limits.burst + (windowMs * limits.rate) / limits.periodMs,
            );
          }
        }
      }),
    );
  });

  it('tells the exact time to come back: refused a millisecond before, granted then', () => {
    fc.assert(
      fc.property(anyRule, fc.integer({ min: 0, max: 5000 }), (limits, laterMs) => {
        const rule = { key: 'k', name: 'n', ...limits };
        const meters = new RateMeters(10);
        for (let call = 0; call < rule.burst; call += 1) meters.spend([rule], T0);
        const now = T0 + laterMs;
        fc.pre(meters.refusing([rule], now) !== undefined);
        const retryAfterMs = meters.retryAfterMs(rule, now);
        expect(retryAfterMs).toBeGreaterThanOrEqual(1);
        expect(meters.refusing([rule], now + retryAfterMs - 1)).toBe(rule);
        expect(meters.refusing([rule], now + retryAfterMs)).toBeUndefined();
      }),
    );
  });

  it('keeps what was used when a reload changes the rate: half of a limit stays half of a limit', () => {
    const meters = new RateMeters(10);
    const before = rule({ rate: 10, periodMs: 1000, burst: 10 });
    for (let call = 0; call < 5; call += 1) meters.spend([before], T0);
    const after = rule({ rate: 600, periodMs: 60_000, burst: 10 });
    expect(meters.states([after], T0)).toMatchObject([{ remaining: 5, limit: 10, resetMs: 500 }]);
    expect(meters.states([after], T0 + 500)).toMatchObject([{ remaining: 10, resetMs: 0 }]);
  });

  it('goes on counting from now when the clock is set back', () => {
    const meters = new RateMeters(10);
    const perSecond = rule({ rate: 1, periodMs: 1000, burst: 1 });
    meters.spend([perSecond], T0);
    expect(meters.refusing([perSecond], T0 - 3_600_000)).toBe(perSecond);
    expect(meters.refusing([perSecond], T0 - 3_600_000 + 1000)).toBeUndefined();
  });

  it('forgets keys that went idle while new ones come', () => {
    const meters = new RateMeters(1_000_000);
    for (let index = 0; index < 5000; index += 1) {
      meters.spend([rule({ key: `user:${index}`, rate: 10, periodMs: 1000, burst: 5 })], T0 + index);
    }
    expect(meters.size).toBeLessThan(250);
  });

  it('refuses a new key when there is no capacity for it, and forgets no limit in force', () => {
    const meters = new RateMeters(2);
    const daily = (key: string) => rule({ key, rate: 1, periodMs: 86_400_000, burst: 1 });
    meters.spend([daily('a')], T0);
    meters.spend([daily('b')], T0);
    expect(meters.refusing([daily('c')], T0)?.key).toBe('c');
    expect(meters.retryAfterMs(daily('c'), T0)).toBeGreaterThanOrEqual(1);
    expect(meters.refusing([daily('a')], T0)?.key).toBe('a');
    expect(meters.refusing([daily('c')], T0 + 86_400_000)).toBeUndefined();
  });
});

function rule(changes: Partial<RateRule>): RateRule {
  return { key: 'k', name: 'n', rate: 1, periodMs: 1000, burst: 1, ...changes };
}

function grantTimes(rule: RateRule, gapsMs: readonly number[]): number[] {
  const meters = new RateMeters(10);
  const granted: number[] = [];
  let now = T0;
  for (const gapMs of gapsMs) {
    now += gapMs;
    if (meters.refusing([rule], now) !== undefined) continue;
    meters.spend([rule], now);
    granted.push(now);
  }
  return granted;
}

/** The textbook: a theoretical arrival time, in fractions with the rate as denominator, never rounded. */
class SlowGcra {
  #tat = 0n;
  readonly #rate: bigint;
  readonly #period: bigint;
  readonly #burst: bigint;

  constructor({ rate, periodMs, burst }: { rate: number; periodMs: number; burst: number }) {
    this.#rate = BigInt(rate);
    this.#period = BigInt(periodMs);
    this.#burst = BigInt(burst);
  }

  allows(now: number): boolean {
    return this.#arrival(now) + this.#period - this.#period * this.#burst <= BigInt(now) * this.#rate;
  }

  spend(now: number): void {
    this.#tat = this.#arrival(now) + this.#period;
  }

  state(now: number): { remaining: number; resetMs: number } {
    const ahead = this.#arrival(now) - BigInt(now) * this.#rate;
    return {
      remaining: Number((this.#period * this.#burst - ahead) / this.#period),
      resetMs: Number((ahead + this.#rate - 1n) / this.#rate),
    };
  }

  #arrival(now: number): bigint {
    const at = BigInt(now) * this.#rate;
    return this.#tat > at ? this.#tat : at;
  }
}
