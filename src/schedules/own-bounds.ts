// What a tool allows of a schedule that it makes: one time or many, and how often.
import { nextTimes, previousTimes } from '../lib/schedule/cron.ts';
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

/** All minutes of an hour, and the first of the next: no day has shorter gaps later on. */
const LOOKED_AT = 61;
const DAY_MS = 86_400_000;
/** A leap year: every date is still to come in it. */
const FROM = Date.UTC(2028, 0, 1);
/** After so many years each date has been each day of the week. Rare dates are far apart, and take long to find. */
const UNTIL = Date.UTC(2056, 0, 1);
/** Of days that are close to one another: years of them are alike. */
const DAYS_LOOKED_AT = 150;

/** In milliseconds, on clocks that never change. Infinite for one that is due once. */
export function shortestGapMs(when: When): number {
  if (when.kind === 'once') return Infinity;
  const [minute = '', hour = '', ...days] = when.cron.trim().split(/\s+/);
  const daily = `${minute} ${hour} * * *`;
  const times = timesOf(daily, FROM + DAY_MS);
  const [first = 0] = times;
  const [last = first] = previousTimes(daily, 'UTC', FROM + DAY_MS, 1);
  const overnight = daysBetween(`0 0 ${days.join(' ')}`) * DAY_MS - (last - first);
  return times.slice(1).reduce((least, time, at) => Math.min(least, time - (times[at] ?? 0)), overnight);
}

/** Of one day, as many as are looked at. */
function timesOf(daily: string, until: number): readonly number[] {
  return nextTimes(daily, 'UTC', FROM - 1, LOOKED_AT).filter((time) => time < until);
}

/** The least that there is between two days on which it is due. Infinite: it is due on one alone. */
function daysBetween(cron: string): number {
  let least = Infinity;
  let [last] = nextTimes(cron, 'UTC', FROM - 1, 1);
  for (let seen = 1; seen < DAYS_LOOKED_AT && last !== undefined && least > 1; seen += 1) {
    const [next] = nextTimes(cron, 'UTC', last, 1);
    if (next === undefined || next > UNTIL) break;
    least = Math.min(least, Math.round((next - last) / DAY_MS));
    last = next;
  }
  return least;
}
