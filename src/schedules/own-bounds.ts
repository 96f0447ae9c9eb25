// What a tool allows of a schedule that it makes: one time or many, and how often.
import { nextTimes } from '../lib/schedule/cron.ts';
import type { OwnBounds } from '../ports/calls/caller-schedules.ts';
import type { ScheduleTerms, When } from '../ports/calls/schedule-store.ts';
import { tooOften } from './schedule-failures.ts';
import { wrong } from './when-due.ts';

/** Throws ToolFailure VALIDATION. */
export function checkBounds({ when }: ScheduleTerms, { kind, minIntervalMs = 0 }: Partial<OwnBounds>): void {
  if (kind !== undefined && when.kind !== kind) {
    const expected =
      kind === 'once' ? 'comes again and again: say one time' : 'is one time: say when it recurs';
    throw wrong('/schedule', expected);
  }
  if (shortestGapMs(when) < minIntervalMs) throw tooOften(minIntervalMs);
}

/** All minutes of an hour, and the first of the next. */
const LOOKED_AT = 61;
/** From the first moment on: a week, over its end. Rare ones are far apart, and take long to find. */
const WITHIN_MS = 8 * 86_400_000;
/** Before a leap year: every date is still to come in it. */
const FROM = Date.UTC(2028, 0, 1) - 1;

/** In milliseconds, on clocks that never change. Infinite for one that is due once, or less often than every week. */
export function shortestGapMs(when: When): number {
  if (when.kind === 'once') return Infinity;
  let [last] = nextTimes(when.cron, 'UTC', FROM, 1);
  if (last === undefined) return Infinity;
  const until = last + WITHIN_MS;
  let least = Infinity;
  for (let seen = 1; seen < LOOKED_AT; seen += 1) {
    const [next] = nextTimes(when.cron, 'UTC', last, 1);
    if (next === undefined || next > until) break;
    least = Math.min(least, next - last);
    last = next;
  }
  return least;
}
