// What a tool may schedule: no more often than it is allowed, found without looking far.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextTimes } from '../lib/schedule/cron.ts';
import { termsOf } from '../../test/helpers/schedule-kit.ts';
import { checkBounds } from './own-bounds.ts';

const MINUTE = 60_000;
const recurring = (cron: string) => termsOf({ when: { kind: 'recurring', cron } });
const isAllowed = (cron: string, minIntervalMs: number) => {
  try {
    checkBounds(recurring(cron), { minIntervalMs });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ type: 'VALIDATION', reason: 'SCHEDULE_TOO_OFTEN' });
    return false;
  }
};

it('is asked for one time or for many', () => {
  const once = termsOf({ when: { kind: 'once', at: 1 } });
  expect(() => checkBounds(once, { kind: 'recurring' })).toThrow('/schedule is one time');
  expect(() => checkBounds(recurring('0 9 * * *'), { kind: 'once' })).toThrow(
    '/schedule comes again and again',
  );
  expect(() => checkBounds(once, { kind: 'once', minIntervalMs: MINUTE })).not.toThrow();
});

it.each([
  ['*/15 * * * *', 15 * MINUTE],
  ['0 9 * * *', 86_400_000],
  ['0 9 29 2 *', 86_400_000],
  ['0 9 1 * *', 86_400_000],
])('%s is as rare as it says', (cron, ms) => {
  expect(isAllowed(cron, ms)).toBe(true);
});

it.each([
  // The last of January and the first of February, an hour apart.
  ['0 0,23 1,31 * *', 60],
  ['30 0,23 28-29,1 2,3 *', 60],
  // A Friday beside the fifteenth of June, which no year has before 2029.
  ['0 0,22 15 6 5', 120],
  ['0 1,23 L * 1#1', 120],
  ['0 9 1,31 * *', 1_440],
  ['0 9 * * 1,4', 3 * 1_440],
  ['0 9 1,15 * *', 14 * 1_440],
  ['0 9 29 2 *', 1_461 * 1_440],
  ['59 23 * * *', 1_440],
])('%s comes %i minutes after it came at the soonest, whenever in the year that is', (cron, minutes) => {
  expect(isAllowed(cron, minutes * MINUTE)).toBe(true);
  expect(isAllowed(cron, (minutes + 1) * MINUTE)).toBe(false);
});

it('what comes more often within any day of it is refused, whenever it is asked', () => {
  const part = (most: number) =>
    fc.uniqueArray(fc.integer({ min: 0, max: most }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(part(59), part(23), fc.integer({ min: 1, max: 60 }), (minutes, hours, least) => {
      const cron = `${minutes.join(',')} ${hours.join(',')} * * *`;
      const times = nextTimes(cron, 'UTC', Date.UTC(2026, 4, 4), minutes.length * hours.length + 1);
      const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
      expect(isAllowed(cron, least * MINUTE)).toBe(Math.min(...gaps) >= least * MINUTE);
    }),
    { numRuns: 60 },
  );
});
