// The parameters that every list of the history takes: filters, times, and the place where a page begins.
import { z } from 'zod';
import type { HistoryPosition } from '../../../ports/calls/call-history.ts';
import { tokenOf } from '../route/page.ts';
import { moment } from '../route/shapes.ts';

const MAX_LENGTH = 512;
const TIME = 'must be a time such as 2026-01-31T12:00:00Z';

export function filterText(description: string) {
  return z
    .string(`must have 1 to ${MAX_LENGTH} characters`)
    .min(1)
    .max(MAX_LENGTH)
    .regex(/^[^\0]+$/, `must have 1 to ${MAX_LENGTH} characters`)
    .optional()
    .describe(description);
}

export const between = () => ({
  from: moment(TIME).optional().describe('Only what came in at this time or later.'),
  to: moment(TIME).optional().describe('Only what came in before this time.'),
});

/** What a page token of the history holds. */
export const afterPosition = /^(\d{1,16})\.([^\0]{1,200})$/;

/** What the history is asked for, of a query that was read. */
export function pageOfHistory({
  page_size: limit,
  page_token: token,
}: {
  page_size: number;
  page_token?: string | undefined;
}) {
  const [, at, id] = afterPosition.exec(token ?? '') ?? [];
  return { limit, ...(at !== undefined && id !== undefined && { after: { at: Number(at), id } }) };
}

/** Empty on the last page. */
export function nextPage(next: HistoryPosition | undefined): string {
  return tokenOf(next === undefined ? undefined : `${next.at}.${next.id}`);
}
