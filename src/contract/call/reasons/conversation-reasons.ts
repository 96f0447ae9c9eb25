// The reasons that conversations have: modes, turns, budgets, sessions. Part of the table in reasons.ts.
import { row, type ReasonRow } from './reason-row.ts';

// oxfmt-ignore
export const CONVERSATION_REASONS = {
  BUDGET_SPENT: row('BUDGET_EXCEEDED', 'a budget of the turn, the session or the day is used up: details.budget, details.limit, details.free_at'),
  MODE_RULE: row('MODE_RESTRICTED', 'gateway.yaml does not allow the tool in this mode'),
  MODE_TIMEOUT: row('TIMEOUT', 'the tool did not answer in the time that the mode gives a call: details.mode'),
  SESSIONS_BUSY: row('UNAVAILABLE', 'too many sessions are being looked for'),
  SESSION_ENDED: row('SESSION_INACTIVE', 'somebody has ended the session'),
  SESSION_EXPIRED: row('SESSION_INACTIVE', 'the session was not used for too long, or is too old'),
  SESSION_MODE: row('MODE_RESTRICTED', 'the call names another mode than its session has'),
  SESSION_NOT_FOUND: row('NOT_FOUND', 'there is no session of this id for this caller'),
  STEP_MISSING: row('PERMISSION_DENIED', 'a rule has the tool called only after others, which the session has not called: details.missing'),
  STEP_REFUSED: row('PERMISSION_DENIED', 'a rule has the tool not called after another, which the session has called: details.after'),
  STEPS_UNKNOWN: row('UNAVAILABLE', 'what the session has called before cannot be looked up', { sparesUpstream: true }),
  STREAM_CALLS_FULL: row('CONCURRENCY_LIMIT', 'the stream has as many calls under way as it may'),
  STREAM_IDLE: row('TIMEOUT', 'nothing was said in the stream for too long, or its first message did not come', { http: 408 }),
  STREAM_NOT_FOUND: row('NOT_FOUND', 'there is no stream of this token for this caller, or its time is over: start another one, with the session'),
  STREAM_REPLACED: row('CONFLICT', 'another connection has taken the place of this one: it resumed the stream, or began one on its session'),
  STREAM_TOO_FAR: row('NOT_FOUND', 'what came after last_seq is not kept any more: start another stream, with the session'),
  TOO_MANY_SESSIONS: row('CONCURRENCY_LIMIT', 'the tenant has all the sessions that it may have'),
  TOO_MANY_STREAMS: row('CONCURRENCY_LIMIT', 'the credential, or the gateway, has all the streams that it may have'),
  TURN_OVER: row('VALIDATION', 'the turn of the stream was ended, and the next was not begun'),
  TURN_TIME_SPENT: row('TIMEOUT', 'the tool did not answer in what was left of the time of its turn'),
  TURN_UNKNOWN: row('VALIDATION', 'context.turn_id is no turn that the session has begun'),
} satisfies Readonly<Record<string, ReasonRow>>;
