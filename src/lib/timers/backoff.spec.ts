import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });

it('a wait lies between its least share and all of it, and never beyond the last', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 1, max: 10_000 }),
      fc.nat(2_000),
      share,
      share,
      (firstMs, lastMs, failures, least, random) => {
        const full = Math.min(lastMs, firstMs * 3 ** failures);
        const waited = backoffMs({ firstMs, lastMs, growth: 3, least }, failures, () => random);
        expect(waited).toBeGreaterThanOrEqual(full * least * 0.999);
        expect(waited).toBeLessThanOrEqual(full * 1.001);
      },
    ),
  );
});

it('a wait doubles with each failure, where nothing else is said', () => {
  const waits = [0, 1, 2, 3, 9].map((failures) =>
    backoffMs({ firstMs: 100, lastMs: 1_000 }, failures, () => 1),
  );
  expect(waits).toEqual([100, 200, 400, 800, 1_000]);
});
