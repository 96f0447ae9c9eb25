// When a schedule is due: what its owner's phrase means from now on, and the moments that come of it.
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { instantOf, isTimeZone, nextTimes, previousTimes } from '../lib/schedule/cron.ts';
import { parseSchedule, type Schedule as ParsedPhrase } from '../lib/schedule/parse-schedule.ts';
import type { Schedule, ScheduleTerms, When } from '../ports/calls/schedule-store.ts';

export const SHORTEST_DELAY_MS = 1_000;

/** Throws ToolFailure VALIDATION: with the readings that it could have where the phrase has more than one. */
export function readWhen(phrase: string, timeZone: string, now: number): When {
  if (!isTimeZone(timeZone))
    throw wrong('/time_zone', `must be a time zone such as Europe/Berlin; found "${timeZone.slice(0, 64)}"`);
  const parsed = parseSchedule(phrase);
  if (!parsed.ok) throw wrong('/schedule', parsed.problem, parsed.offered);
  const { schedule } = parsed;
  if (schedule.kind === 'recurring') return schedule;
  const at = instantIn(schedule, timeZone, now);
  if (!(at > now)) throw wrong('/schedule', 'is a time that has passed already');
  return { kind: 'once', at };
}

function instantIn(once: ParsedPhrase & { kind: 'once' }, timeZone: string, now: number): number {
  if ('at' in once) return instantOf(once.at, timeZone);
  return now + Math.max(once.delayMs, SHORTEST_DELAY_MS);
}

type Times = Pick<ScheduleTerms, 'when' | 'timeZone' | 'endAt'>;

/** The first moment after `after`; null: there is none any more. */
export function firstAfter({ when, timeZone, endAt }: Times, after: number): number | null {
  const next = when.kind === 'once' ? when.at : nextTimes(when.cron, timeZone, after, 1)[0];
  if (next === undefined || next <= after) return null;
  return endAt !== null && next > endAt ? null : next;
}

/** The last moments from `from` to `to`, both included, oldest first, at most `count`. */
export function lastWithin(
  { when, timeZone, endAt }: Times,
  from: number,
  to: number,
  count: number,
): number[] {
  const until = endAt === null ? to : Math.min(to, endAt);
  if (when.kind === 'once') return when.at <= until ? [when.at] : [];
  return previousTimes(when.cron, timeZone, until + 1, count).filter((time) => time >= from);
}

/** What is coming, as far as it is known now. */
export function upcoming(
  { nextRun, runs, terms }: Pick<Schedule, 'nextRun' | 'runs' | 'terms'>,
  count: number,
) {
  if (nextRun === null) return [];
  const { when, timeZone, endAt, maxRuns } = terms;
  if (when.kind === 'once') return [nextRun];
  const times = [nextRun, ...nextTimes(when.cron, timeZone, nextRun, count - 1)];
  const left = maxRuns === null ? count : Math.max(0, maxRuns - runs);
  return times.filter((time) => endAt === null || time <= endAt).slice(0, left);
}

export function wrong(pointer: string, message: string, readings?: readonly string[]): ToolFailure {
  const offered =
    readings === undefined || readings.length === 0 ? '' : ` Say one of: ${readings.join(' | ')}.`;
  return new ToolFailure('VALIDATION', `${pointer} ${message}.${offered}`, {
    reason: readings === undefined ? 'MALFORMED_SCHEDULE' : 'SCHEDULE_NOT_UNDERSTOOD',
    details: {
      violations: [{ pointer, message }],
      ...(readings !== undefined && { readings: [...readings] }),
    },
  });
}
