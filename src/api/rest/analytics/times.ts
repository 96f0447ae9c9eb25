// Which time figures are of: what was asked for, or the last seven days; never more than a month.
import { refused } from '../route/violations.ts';

const DAY_MS = 86_400_000;
const USUAL_MS = 7 * DAY_MS;
export const LONGEST_DAYS = 31;

interface Said {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Throws ToolFailure VALIDATION. */
export function timesOf({ from: first, to: last }: Said, now: number): { from: Date; to: Date } {
  const to = last ?? (first === undefined ? new Date(now) : new Date(first.getTime() + USUAL_MS));
  const from = first ?? new Date(to.getTime() - USUAL_MS);
  const long = to.getTime() - from.getTime();
  if (long <= 0) throw refused([{ pointer: '/from', message: 'must be before /to' }]);
  if (long > LONGEST_DAYS * DAY_MS)
    throw refused([{ pointer: '/from', message: `must be at most ${LONGEST_DAYS} days before /to` }]);
  return { from, to };
}
