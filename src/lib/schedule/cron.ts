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

/** A local date and time, with or without an offset, as epoch milliseconds. */
export function instantOf(at: string, timeZone: string): number {
  if (/(?:Z|[+-]\d{2}:\d{2})$/.test(at)) return Date.parse(at);
  return new Cron(at, { paused: true, timezone: timeZone }).nextRun(new Date(0))?.getTime() ?? Number.NaN;
}
