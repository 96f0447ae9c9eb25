// Calls that run later and their webhooks, as OpenAPI says them.
import type { JsonObject } from '../../contract/json.ts';
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

const CALL_ID = parameterRef('CallId');

export const ASYNC_SCHEMAS: JsonObject = {
  CallView: record({
    id: words,
    kind: { enum: ['sync', 'async', 'scheduled'] },
    status: schemaRef('CallStatus'),
    tool: words,
    tool_version: words,
    executor: words,
    principal_id: words,
    error_type: orNull(words),
    reason: orNull(words),
    partial_side_effects: flag,
    cancel_requested: flag,
    attempts: { type: 'integer', minimum: 0, description: 'Runs; more than one where a replica was lost.' },
    duration_ms: orNull({ type: 'number' }),
    registry_version: words,
    trace_id: words,
    created_at: time,
    started_at: orNull(time),
    finished_at: orNull(time),
    result: {
      ...orNull(schemaRef('Envelope')),
      description: 'What a direct call would have answered; null until the call has ended.',
    },
  }),
  RetryRequest: record(
    {
      force: { type: 'boolean', default: false, description: 'Also where the tool may act a second time.' },
      confirmation_token: text('From the answer that asked for an approval, once that has been given.'),
    },
    ['force', 'confirmation_token'],
  ),
  Callback: record({ url: text('An https URL of a host that the operator allows.', { format: 'uri' }) }),
  DeadWebhook: record({
    id: words,
    call_id: words,
    url: words,
    attempts: { type: 'integer', minimum: 1 },
    last_error: words,
    created_at: time,
    finished_at: time,
  }),
  DeadWebhookPage: record({
    webhooks: listOf(schemaRef('DeadWebhook')),
    next_page_token: text('Give it as `page_token`; empty on the last page.'),
  }),
  WebhookState: record({ id: words, status: { const: 'pending' } }),
};

export const ASYNC_PARAMETERS: JsonObject = {
  CallId: { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 256 } },
  WebhookId: { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 256 } },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`respond-async`: the call is checked and accepted now (202, `meta.status: accepted`, Location) and runs later.',
    schema: { type: 'string', examples: ['respond-async'] },
  },
};

const events: JsonObject = {
  description:
    'Server-sent events: `progress`, `log` and `partial` as the tool said them, then `result` with the envelope, and the ' +
    'stream ends. `reconnect`: this replica stops; come again with Last-Event-ID.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
};

/** For a backend that serves many users with one credential: the gateway compares. */
const CALLED_FOR = ['agent_id', 'user_id', 'session_id'].map((name) =>
  query(name, 'Only where the call was made for it; 404 otherwise.', words),
);

export const asyncPaths: JsonObject = {
  '/v1/calls/{id}': {
    get: managed(
      {
        operationId: 'getCall',
        tags: ['calls'],
        summary: 'Where a call stands, and how it ended',
        parameters: [CALL_ID, ...CALLED_FOR],
      },
      answer('The call.', schemaRef('CallView')),
      ['NotFound'],
    ),
    delete: managed(
      {
        operationId: 'cancelCall',
        tags: ['calls'],
        summary: 'Cancel a call that runs later: at once where it waits, soon where it runs',
        parameters: [CALL_ID, ...CALLED_FOR],
      },
      answer('The call as it stands.', schemaRef('CallView')),
      ['NotFound', 'Conflict'],
    ),
  },
  '/v1/calls/{id}/events': {
    get: managed(
      {
        operationId: 'followCall',
        tags: ['calls'],
        summary: 'What a call says while it runs, and its result',
        parameters: [
          CALL_ID,
          ...CALLED_FOR,
          { name: 'Last-Event-ID', in: 'header', schema: { type: 'integer', minimum: 0 } },
        ],
      },
      events,
      ['BadRequest', 'NotFound'],
    ),
  },
  '/v1/calls/{id}/retry': {
    post: managed(
      {
        operationId: 'retryCall',
        tags: ['calls'],
        summary:
          'Run a call again that failed, was cancelled or whose outcome is unknown. 202: a human has to approve it first',
        parameters: [CALL_ID],
        requestBody: { ...body(schemaRef('RetryRequest'), { force: false }), required: false },
      },
      answer('The call, queued again.', schemaRef('CallView')),
      ['BadRequest', 'NotFound', 'Conflict'],
    ),
  },
  '/v1/admin/webhooks/dead': {
    get: managed(
      {
        operationId: 'listDeadWebhooks',
        tags: ['admin'],
        summary: 'Webhooks that were given up, newest first',
        parameters: [
          parameterRef('PageSize'),
          query('page_token', 'The `next_page_token` of the page before.', words),
        ],
      },
      answer('One page.', schemaRef('DeadWebhookPage')),
      ['BadRequest'],
    ),
  },
  '/v1/admin/webhooks/{id}/redeliver': {
    post: managed(
      {
        operationId: 'redeliverWebhook',
        tags: ['admin'],
        summary: 'Send a webhook again that was given up',
        parameters: [parameterRef('WebhookId')],
      },
      answer('It is sent again.', schemaRef('WebhookState')),
      ['NotFound'],
    ),
  },
};
