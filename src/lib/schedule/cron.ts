// Cron expressions of five fields in a time zone: whether they are one, and when they are due.
import { Cron } from 'croner';

const FIELDS = 5;

/** What is wrong with the expression; undefined: nothing. */
export function cronProblem(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/).length;
  if (fields !== FIELDS)
    return `a cron expression has ${FIELDS} fields (minute hour day month weekday), not ${fields}`;
  try {
    const cron = new Cron(expression, { paused: true, timezone: 'UTC' });
    return cron.nextRun() === null ? 'this moment never comes' : undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
  }
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/**
 * The next `count` moments after `after` (epoch milliseconds), as epoch milliseconds. A local time that a change of
 * clocks leaves out is due at the first moment after the gap; one that comes twice is due once.
 */
export function nextTimes(expression: string, timeZone: string, after: number, count: number): number[] {
  const cron = new Cron(expression, { paused: true, timezone: timeZone });
  return cron.nextRuns(count, new Date(after)).map((date) => date.getTime());
}

/** The last `count` moments before `before`, oldest first; the same ones that nextTimes would give. */
export function previousTimes(expression: string, timeZone: string, before: number, count: number): number[] {
  const cron = new Cron(expression, { paused: true, timezone: timeZone });
  return cron
    .previousRuns(count, new Date(before))
    .map((date) => date.getTime())
    .toReversed();
}

/**
 * A local date and time, with or without an offset, as epoch milliseconds. One that a change of clocks leaves out is the first
 * moment after it.
 */
export function instantOf(at: string, timeZone: string): number {
  if (/(?:Z|[+-]\d{2}:\d{2})$/.test(at)) return Date.parse(at);
  const found =
    new Cron(at, { paused: true, timezone: timeZone }).nextRun(new Date(0))?.getTime() ?? Number.NaN;
  return Number.isNaN(found) ? found : notBefore(at.replace('T', ' '), timeZone, found);
}

/** No change of clocks is longer. */
const LONGEST_GAP_MS = 3 * 3_600_000;

/** `said` is left out where clocks show more at `found`: the change lies between, at a whole second. */
function notBefore(said: string, timeZone: string, found: number): number {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  if (clock.format(found) <= said) return found;
  let [before, after] = [(found - LONGEST_GAP_MS) / 1_000, found / 1_000];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (clock.format(middle * 1_000) < said) before = middle;
    else after = middle;
  }
  return after * 1_000;
}
