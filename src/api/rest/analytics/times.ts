// Which time figures are of: what was asked for, or the last seven days; never more than a month.
import { refused } from '../route/violations.ts';

const DAY_MS = 86_400_000;
const USUAL_MS = 7 * DAY_MS;
export const LONGEST_DAYS = 31;
/** What RFC 3339 can say. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

interface Said {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Throws ToolFailure VALIDATION. */
export function timesOf({ from: first, to: last }: Said, now: number): { from: Date; to: Date } {
  const to =
    last ?? (first === undefined ? new Date(now) : new Date(Math.min(first.getTime() + USUAL_MS, LAST_MS)));
  const from = first ?? new Date(Math.max(to.getTime() - USUAL_MS, FIRST_MS));
  const long = to.getTime() - from.getTime();
  if (long <= 0) throw refused([{ pointer: '/from', message: 'must be before /to' }]);
  if (long > LONGEST_DAYS * DAY_MS)
    throw refused([{ pointer: '/from', message: `must be at most ${LONGEST_DAYS} days before /to` }]);
  return { from, to };
}
