// The reasons that toolsets have. Part of the table in reasons.ts.
import { row, type ReasonRow } from './reason-row.ts';

// oxfmt-ignore
export const TOOLSET_REASONS = {
  ARGUMENT_NOT_OFFERED: row('VALIDATION', 'the toolset fixes or hides this argument: leave it out'),
  TOOLSET_NOT_FOUND: row('NOT_FOUND', 'there is no toolset of this name for this caller: where it is for certain agents, name one'),
} satisfies Readonly<Record<string, ReasonRow>>;
