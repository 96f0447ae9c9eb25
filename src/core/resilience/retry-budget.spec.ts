// Specs of RetryBudget.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RetryBudget } from './retry-budget.ts';

describe('RetryBudget', () => {
  it('stops retries when half of the tokens are gone: four failures of ten may be retried, the fifth may not', () => {
    const budget = new RetryBudget();
    expect([1, 2, 3, 4, 5, 6].map(() => budget.failed())).toEqual([true, true, true, true, false, false]);
  });

  it('allows retries again after enough successes, ten for each token', () => {
    const budget = new RetryBudget();
    for (let failure = 0; failure < 6; failure += 1) budget.failed();
    for (let success = 0; success < 20; success += 1) budget.succeeded();
    expect(budget.tokens).toBe(6);
    expect(budget.failed()).toBe(false);
    for (let success = 0; success < 11; success += 1) budget.succeeded();
    expect(budget.failed()).toBe(true);
  });

  it('adds up exactly: a thousand successes of 0.1 are a hundred tokens', () => {
    const budget = new RetryBudget({ maxTokens: 1000, ratio: 0.1 });
    for (let failure = 0; failure < 1000; failure += 1) budget.failed();
    expect(budget.tokens).toBe(0);
    for (let success = 0; success < 1000; success += 1) budget.succeeded();
    expect(budget.tokens).toBe(100);
  });

  it('equals the arithmetic of the gRFC for any history, and stays between nothing and its maximum', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 1000 }),
        fc.array(fc.boolean(), { maxLength: 300 }),
        (maxTokens, ratioThousandths, history) => {
          const budget = new RetryBudget({ maxTokens, ratio: ratioThousandths / 1000 });
          let units = maxTokens * 1000;
          for (const success of history) {
            const change = success ? ratioThousandths : -1000;
            units = Math.min(maxTokens * 1000, Math.max(0, units + change));
            const mayRetry = success ? budget.succeeded() : budget.failed();
            expect(mayRetry).toBe(success ? undefined : units * 2 > maxTokens * 1000);
            expect(budget.tokens).toBe(units / 1000);
          }
        },
      ),
    );
  });

  it('bounds the retries of an upstream that is down: fewer than half of the maximum, however many calls come', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (maxTokens) => {
        const budget = new RetryBudget({ maxTokens });
        const retried = Array.from({ length: 1000 }, () => budget.failed()).filter(Boolean).length;
        expect(retried).toBeLessThan(maxTokens / 2 + 1);
      }),
    );
  });
});
