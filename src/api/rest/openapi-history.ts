// The history of calls and the audit trail as OpenAPI says them.
import type { JsonObject } from '../../contract/json.ts';
import { AUDIT_KINDS, CALL_STATUSES } from './history-words.ts';
import {
  answer,
  body,
  flag,
  listOf,
  managed,
  orNull,
  parameterRef,
  query,
  record,
  schemaRef,
  text,
  time,
  words,
} from './openapi-parts.ts';

const notes = orNull({ type: 'object', additionalProperties: true });
const nextPage = text('Give it as `page_token`; empty on the last page.');

const who: JsonObject = {
  principal_id: text('The credential.'),
  agent_id: words,
  user_id: words,
  session_id: words,
};

export const HISTORY_SCHEMAS: JsonObject = {
  CallStatus: {
    enum: [...CALL_STATUSES],
    description:
      '`outcome_unknown`: its process died before it told of the end. See POST /v1/calls/{id}/resolve.',
  },
  CallSummary: record({
    id: words,
    kind: { enum: ['sync', 'async', 'scheduled'] },
    status: schemaRef('CallStatus'),
    tool: words,
    tool_version: words,
    executor: words,
    error_type: orNull(words),
    reason: orNull(words),
    partial_side_effects: flag,
    read_only: flag,
    idempotent: flag,
    attempts: { type: 'integer', minimum: 0 },
    duration_ms: orNull({ type: 'number' }),
    ...who,
    door: words,
    arguments_hash: text('sha256 of the canonical JSON; the arguments themselves are not kept.'),
    registry_version: words,
    trace_id: words,
    notes,
    created_at: time,
    finished_at: orNull(time),
  }),
  CallHistoryPage: record({ calls: listOf(schemaRef('CallSummary')), next_page_token: nextPage }),
  AuditEntry: record({
    event_id: words,
    kind: { enum: [...AUDIT_KINDS] },
    at: time,
    call_id: words,
    door: words,
    ...who,
    requested_tool: words,
    tool: words,
    tool_version: words,
    executor: words,
    outcome: text('`ok`, the error type, or what was decided.'),
    reason: words,
    arguments_hash: words,
    attempts: { type: 'integer', minimum: 0 },
    duration_ms: { type: 'number' },
    partial_side_effects: flag,
    registry_version: words,
    trace_id: words,
    notes,
  }),
  AuditPage: record({ records: listOf(schemaRef('AuditEntry')), next_page_token: nextPage }),
  Resolution: {
    ...record({
      outcome: { enum: ['succeeded', 'failed'] },
      comment: text('How it was found out.', { minLength: 1, maxLength: 2000 }),
    }),
    additionalProperties: true,
  },
};

const paging = [
  query('from', 'Only what came in at this time or later.', time),
  query('to', 'Only what came in before this time.', time),
  parameterRef('PageSize'),
  query('page_token', 'The `next_page_token` of the page before.', words),
];

const callFilters = [
  query('tool', 'Only calls of this function.', words),
  query('status', 'Only calls that stand so.', schemaRef('CallStatus')),
  query('error_type', 'Only calls that ended with this error type.', words),
  query('agent_id', 'Only calls made for this agent.', words),
  query('session_id', 'Only calls of this session.', words),
];

const auditFilters = [
  query('kind', 'Only records of this kind.', { enum: [...AUDIT_KINDS] }),
  query('call_id', 'Only records of this call.', words),
  query('tool', 'Only records of this function.', words),
  query('outcome', 'Only records with this outcome.', words),
  query('principal_id', 'Only records of this credential.', words),
];

export const historyPaths: JsonObject = {
  '/v1/calls': {
    get: managed(
      {
        operationId: 'listCalls',
        tags: ['calls'],
        summary: 'List calls of the tenant, newest first',
        parameters: [...callFilters, ...paging],
      },
      answer('One page.', schemaRef('CallHistoryPage')),
      ['BadRequest'],
    ),
  },
  '/v1/calls/{id}/resolve': {
    post: managed(
      {
        operationId: 'resolveCall',
        tags: ['calls'],
        summary: 'Say how a call ended whose outcome is unknown',
        parameters: [parameterRef('CallId')],
        requestBody: body(schemaRef('Resolution'), {
          outcome: 'failed',
          comment: 'not in the bank statement',
        }),
      },
      answer('The call as resolved.', schemaRef('CallSummary')),
      ['BadRequest', 'NotFound', 'Conflict'],
    ),
  },
  '/v1/audit': {
    get: managed(
      {
        operationId: 'listAuditRecords',
        tags: ['admin'],
        summary: 'List audit records of the tenant, newest first',
        parameters: [...auditFilters, ...paging],
      },
      answer('One page.', schemaRef('AuditPage')),
      ['BadRequest'],
    ),
  },
};
