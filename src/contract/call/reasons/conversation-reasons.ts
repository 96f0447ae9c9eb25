// The reasons that conversations have: modes, turns, budgets, sessions. Part of the table in reasons.ts.
import { row, type ReasonRow } from './reason-row.ts';

// prettier-ignore
export const CONVERSATION_REASONS = {
  BUDGET_SPENT: row('BUDGET_EXCEEDED', 'a budget of the turn, the session or the day is used up: details.budget, details.limit, details.free_at'),
  MODE_RULE: row('MODE_RESTRICTED', 'gateway.yaml does not allow the tool in this mode'),
  MODE_TIMEOUT: row('TIMEOUT', 'the tool did not answer in the time that the mode gives a call: details.mode'),
  TURN_TIME_SPENT: row('TIMEOUT', 'the tool did not answer in what was left of the time of its turn'),
} satisfies Readonly<Record<string, ReasonRow>>;
