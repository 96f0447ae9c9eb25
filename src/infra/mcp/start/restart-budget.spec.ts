// The restart budget: never more attempts in a minute than allowed, delays that grow and jitter, a fresh start after work.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { RestartBudget } from './restart-budget.ts';

describe('RestartBudget', () => {
  it('allows no minute with more failures than the limit', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 6 }), (gaps, limit) => {
        const clock = new FakeClock();
        const budget = new RestartBudget(clock, () => 0, limit);
        const failures: number[] = [];
        for (const gap of gaps) {
          clock.jumpTo(clock.now() + gap);
          if (budget.spentForMs() > 0) continue;
          failures.push(clock.now());
          budget.failed();
        }
        for (const at of failures) {
          expect(failures.filter((other) => other >= at && other < at + 60_000).length).toBeLessThanOrEqual(
            limit,
          );
        }
      }),
    );
  });

  it('says when it may be tried again, and then it may', () => {
    const clock = new FakeClock();
    const budget = new RestartBudget(clock, () => 0, 2);
    budget.failed();
    clock.jumpTo(clock.now() + 10_000);
    budget.failed();
    expect(budget.spentForMs()).toBe(50_000);
    clock.jumpTo(clock.now() + 50_000);
    expect(budget.spentForMs()).toBe(0);
  });

  it('waits longer after each failure, up to a limit, anywhere between nothing and that', () => {
    const delays = (random: number) => {
      const budget = new RestartBudget(new FakeClock(), () => random, 100);
      return Array.from({ length: 12 }, () => (budget.failed(), budget.delayMs()));
    };
    expect(delays(0.999_999)).toEqual([
      99, 199, 399, 799, 1_599, 3_199, 4_999, 4_999, 4_999, 4_999, 4_999, 4_999,
    ]);
    expect(new Set(delays(0))).toEqual(new Set([0]));
  });

  it('begins anew with the delays once a call was answered', () => {
    const budget = new RestartBudget(new FakeClock(), () => 0.5, 100);
    for (let failure = 0; failure < 5; failure += 1) budget.failed();
    budget.worked();
    expect(budget.delayMs()).toBe(0);
    budget.failed();
    expect(budget.delayMs()).toBe(50);
  });
});
