// Calls on the wire: the history of all of them, and those that run later.
import { z } from 'zod';
import { CALL_STATUSES } from '../../../ports/calls/call-store.ts';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import {
  strictBody,
  count,
  flag,
  named,
  number,
  object,
  oneOf,
  shape,
  text,
  time,
  type ValueOf,
} from '../route/shapes.ts';
import { awaitsApproval } from '../approvals/schema.ts';
import { Envelope } from '../execute/envelope.ts';
import { afterPosition, between, filterText } from './history-query.ts';

const TAG = 'calls';
const KINDS = ['sync', 'async', 'scheduled'] as const;
const MAX_COMMENT = 2000;
const params = { id: shape(() => z.string().max(256)) };

export const CallStatus = named('CallStatus', () =>
  oneOf(CALL_STATUSES).describe(
    '`waiting_approval`: it runs by itself once a human has approved it. `outcome_unknown`: its process died before it told of the end. See POST /v1/calls/{id}/resolve.',
  ),
);

/** On whose behalf: the same in every record. */
export const who = () => ({
  principal_id: text('The credential.'),
  agent_id: text(),
  user_id: text(),
  session_id: text(),
});
export const notes = () => object().nullable();

export const CallSummary = named('CallSummary', () =>
  z.object({
    id: text(),
    kind: oneOf(KINDS),
    status: CallStatus(),
    tool: text(),
    tool_version: text(),
    executor: text(),
    error_type: text().nullable(),
    reason: text().nullable(),
    partial_side_effects: flag(),
    read_only: flag(),
    idempotent: flag(),
    attempts: count(),
    duration_ms: number().nullable(),
    ...who(),
    door: text(),
    arguments_hash: text('sha256 of the canonical JSON; the arguments themselves are not kept.'),
    registry_version: text(),
    trace_id: text(
      'Empty where it leads to nothing: of a call that succeeded, in a trace that began here and that nobody keeps.',
    ),
    notes: notes(),
    created_at: time(),
    finished_at: time().nullable(),
  }),
);

export const CallView = named('CallView', () =>
  z.object({
    id: text(),
    kind: oneOf(KINDS),
    status: CallStatus(),
    tool: text(),
    tool_version: text(),
    executor: text(),
    principal_id: text(),
    error_type: text().nullable(),
    reason: text().nullable(),
    partial_side_effects: flag(),
    cancel_requested: flag(),
    attempts: count('Runs; more than one where a replica was lost.'),
    duration_ms: number().nullable(),
    registry_version: text(),
    trace_id: text(),
    created_at: time(),
    started_at: time().nullable(),
    finished_at: time().nullable(),
    approval_id: text('What a human had to approve before it could run.').nullable(),
    approval_expires_at: time().nullable(),
    result: Envelope()
      .nullable()
      .describe(
        'What a direct call would have answered. null: the call has not ended, or it was a direct one, whose answer is not kept.',
      ),
  }),
);

const Resolution = named('Resolution', () =>
  strictBody('{"outcome": "succeeded" | "failed", "comment": "…"}', {
    outcome: oneOf(['succeeded', 'failed']),
    comment: z
      .string(`must say in 1 to ${MAX_COMMENT} characters how it was found out`)
      .min(1)
      .max(MAX_COMMENT)
      .regex(/\S/)
      .describe('How it was found out.'),
  }),
);

const RetryRequest = named('RetryRequest', () =>
  strictBody('{"force": true}, or empty', {
    force: flag('Also where the tool may act a second time.').default(false),
    confirmation_token: z
      .string('must be the token that came with the approval')
      .min(1)
      .max(512)
      .optional()
      .describe('From the answer that asked for an approval, once that has been given.'),
  }),
);

/** For a backend that serves many users with one credential: the gateway compares. */
export const calledFor = shape(() => {
  const field = () => filterText('Only where the call was made for it; 404 otherwise.');
  return z.object({ agent_id: field(), user_id: field(), session_id: field() });
});
export type CalledFor = ValueOf<typeof calledFor>;

export const callsQuery = shape(() =>
  z.object({
    tool: filterText('Only calls of this function.'),
    status: CallStatus().optional().describe('Only calls that stand so.'),
    error_type: filterText('Only calls that ended with this error type.'),
    agent_id: filterText('Only calls made for this agent.'),
    session_id: filterText('Only calls of this session.'),
    ...between(),
    ...paging(afterPosition),
  }),
);

export const listCalls = route({
  operationId: 'listCalls',
  method: 'get',
  path: '/v1/calls',
  tag: TAG,
  summary: 'List calls of the tenant, newest first',
  query: callsQuery,
  answers: { 200: json('One page.', pageShape('CallHistoryPage', 'calls', CallSummary)) },
  problems: [400],
});

export const resolveCall = route({
  operationId: 'resolveCall',
  method: 'post',
  path: '/v1/calls/{id}/resolve',
  tag: TAG,
  summary: 'Say how a call ended whose outcome is unknown',
  params,
  body: { shape: Resolution, example: { outcome: 'failed', comment: 'not in the bank statement' } },
  answers: { 200: json('The call as resolved.', CallSummary) },
  problems: [400, 404, 409],
});

export const getCall = route({
  operationId: 'getCall',
  method: 'get',
  path: '/v1/calls/{id}',
  tag: TAG,
  summary: 'Where a call stands, and how it ended',
  params,
  query: calledFor,
  answers: { 200: json('The call.', CallView, ['Retry-After']) },
  problems: [404],
});

export const cancelCall = route({
  operationId: 'cancelCall',
  method: 'delete',
  path: '/v1/calls/{id}',
  tag: TAG,
  summary: 'Cancel a call that runs later: at once where it waits, soon where it runs',
  params,
  query: calledFor,
  answers: { 200: json('The call as it stands.', CallView) },
  problems: [404, 409],
});

export const followCall = route({
  operationId: 'followCall',
  method: 'get',
  path: '/v1/calls/{id}/events',
  tag: TAG,
  summary: 'What a call says while it runs, and its result',
  params,
  query: calledFor,
  headers: shape(() => z.object({ 'Last-Event-ID': eventId() })),
  answers: {
    200: {
      description:
        'Server-sent events: `progress`, `log` and `partial` as the tool said them, then `result` with the envelope, and ' +
        'the stream ends; null, as in the call itself, where there is none. `reconnect`: this replica stops; come again with Last-Event-ID.',
      content: { 'text/event-stream': shape(() => text()) },
    },
  },
  sendsItself: true,
  problems: [400, 404],
});

export const retryCall = route({
  operationId: 'retryCall',
  method: 'post',
  path: '/v1/calls/{id}/retry',
  tag: TAG,
  summary:
    'Run a call again that failed, was cancelled or whose outcome is unknown. 202: a human has to approve it first',
  params,
  body: { shape: RetryRequest, example: { force: false }, required: false },
  answers: { 200: json('The call, queued again.', CallView, ['Location']), 202: awaitsApproval },
  problems: [400, 404, 409],
});

/** Empty is none. */
function eventId() {
  const number = z.int('must be the id of an event of this call').min(0).max(999_999_999);
  const read = (said: unknown) =>
    typeof said !== 'string' ? said : said === '' ? 0 : /^\d{1,9}$/.test(said) ? Number(said) : Number.NaN;
  return z.preprocess(read, number.optional());
}
