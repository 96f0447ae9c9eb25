// The reasons that conversations have: modes, turns, budgets, sessions. Part of the table in reasons.ts.
import { row, type ReasonRow } from './reason-row.ts';

// prettier-ignore
export const CONVERSATION_REASONS = {
  BUDGET_SPENT: row('BUDGET_EXCEEDED', 'a budget of the turn, the session or the day is used up: details.budget, details.limit, details.free_at'),
  MODE_RULE: row('MODE_RESTRICTED', 'gateway.yaml does not allow the tool in this mode'),
  MODE_TIMEOUT: row('TIMEOUT', 'the tool did not answer in the time that the mode gives a call: details.mode'),
  SESSIONS_BUSY: row('UNAVAILABLE', 'too many sessions are being looked for'),
  SESSION_ENDED: row('SESSION_INACTIVE', 'somebody has ended the session'),
  SESSION_EXPIRED: row('SESSION_INACTIVE', 'the session was not used for too long, or is too old'),
  SESSION_MODE: row('MODE_RESTRICTED', 'the call names another mode than its session has'),
  SESSION_NOT_FOUND: row('NOT_FOUND', 'there is no session of this id for this caller'),
  TOO_MANY_SESSIONS: row('CONCURRENCY_LIMIT', 'the tenant has all the sessions that it may have'),
  TURN_TIME_SPENT: row('TIMEOUT', 'the tool did not answer in what was left of the time of its turn'),
  TURN_UNKNOWN: row('VALIDATION', 'context.turn_id is no turn that the session has begun'),
} satisfies Readonly<Record<string, ReasonRow>>;
