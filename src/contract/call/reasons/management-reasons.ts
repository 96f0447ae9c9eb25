// The reasons of the management side that came after the first: figures of calls. Part of the table in reasons.ts.
import { row, type ReasonRow } from './reason-row.ts';

// prettier-ignore
export const MANAGEMENT_REASONS = {
  ANALYTICS_BUSY: row('UNAVAILABLE', 'the calls of this time could not be counted soon enough: ask for a shorter one, or later'),
} satisfies Readonly<Record<string, ReasonRow>>;
