// The envelope, its error types and the HTTP statuses they come with, as OpenAPI says them. Read off the one table.
import { errorRow } from '../../contract/call/error-row.ts';
import { ERROR_TYPES, isErrorType, type ErrorType } from '../../contract/call/error-types.ts';
import { INTENT_TYPES } from '../../contract/call/intent.ts';
import type { JsonObject } from '../../contract/json.ts';
import { ENVELOPE_VERSION } from '../../contract/call/tool-response.ts';
import { answer, headerRef, listOf, orNull, record, schemaRef, text } from './openapi-parts.ts';

const TYPES: readonly ErrorType[] = Object.keys(ERROR_TYPES).filter(isErrorType);

const meta = record(
  {
    schema_version: { const: ENVELOPE_VERSION },
    call_id: text('Names this call in logs, traces and the audit trail.'),
    tool: text('The function that was called; empty where none was found.'),
    tool_version: { type: 'string' },
    executor: { type: 'string' },
    duration_ms: { type: 'number', minimum: 0 },
    attempts: { type: 'integer', minimum: 0 },
    cached: { type: 'boolean' },
    replayed: {
      type: 'boolean',
      description: 'The stored answer to an earlier call with the same Idempotency-Key.',
    },
    fallback: { type: 'boolean' },
    degraded: listOf(text('A component that worked in a reduced way for this call.')),
    registry_version: text('The set of tools this call was made in.'),
    trace_id: { type: 'string' },
    dry_run: { const: true, description: 'The data is what the call would do; nothing was done.' },
    recorded: {
      type: 'boolean',
      description: 'Of a gateway that replays: from the recording, or really called because it is not in it.',
    },
    truncated: record(
      {
        pointer: text('JSON Pointer of the list that was cut; empty for the result itself.'),
        kept: { type: 'integer', minimum: 0 },
        omitted: { type: 'integer', minimum: 0 },
        cursor: text('Give it as context.cursor with the same arguments to get the next items.'),
      },
      ['cursor'],
    ),
    successor: text('The call was made in a deprecated form: the function to call instead.'),
    status: { const: 'accepted', description: 'The call has not run yet; `data` is null.' },
    call_url: text(
      'Where its end will be found. Where `replayed` is true, that of the call which was accepted at first: `call_id` names this repeat.',
    ),
  },
  ['dry_run', 'recorded', 'truncated', 'successor', 'status', 'call_url'],
);

const intent: JsonObject = {
  type: 'object',
  description: 'What the tool asks the caller to do.',
  properties: {
    type: text('A custom intent has an upper-case word of its own.', { examples: [...INTENT_TYPES] }),
  },
  required: ['type'],
  additionalProperties: true,
};

const success = record({
  ok: { const: true },
  data: { description: 'What the tool returned: any JSON.' },
  intents: listOf(schemaRef('Intent')),
  meta: schemaRef('Meta'),
});

const refusal = record({ ok: { const: false }, error: schemaRef('ToolError'), meta: schemaRef('Meta') });

const toolError = record({
  type: schemaRef('ErrorType'),
  message: { type: 'string' },
  retryable: { type: 'boolean', description: 'Whether the same call may succeed later.' },
  partial_side_effects: {
    type: 'boolean',
    description: 'Whether the tool may have changed something already.',
  },
  origin: { enum: ['caller', 'gateway', 'tool'], description: 'Whose fault it is.' },
  reason: text('An upper-case word inside the type.', { examples: ['SCHEMA_MISMATCH'] }),
  retry_after_ms: orNull({ type: 'number', minimum: 0 }),
  details: { type: 'object', additionalProperties: true },
});

export const ENVELOPE_SCHEMAS: JsonObject = {
  Envelope: {
    oneOf: [schemaRef('Success'), schemaRef('Refusal')],
    description: `How every call ends, version ${ENVELOPE_VERSION}.`,
  },
  Success: success,
  Refusal: refusal,
  ToolError: toolError,
  ErrorType: { type: 'string', enum: [...TYPES], description: typeTable() },
  Meta: meta,
  Intent: intent,
};

export const LIMIT_HEADERS: JsonObject = {
  Deprecation: { $ref: '#/components/headers/Deprecation' },
  Link: { $ref: '#/components/headers/Link' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
};

/** The answers of a call endpoint: one per HTTP status that the table holds, each with the types it stands for. */
export function envelopeResponses(ok: JsonObject): JsonObject {
  const responses: [string, JsonObject][] = [['200', ok]];
  for (const [status, types] of typesByStatus()) {
    const headers: JsonObject = { ...LIMIT_HEADERS };
    const waits = types.some((type) => ERROR_TYPES[type].retryable);
    if (waits) headers['Retry-After'] = headerRef('Retry-After');
    if (types.includes('CONFIRMATION_REQUIRED')) headers['Location'] = headerRef('Location');
    if (types.includes('AUTH')) headers['WWW-Authenticate'] = headerRef('WWW-Authenticate');
    responses.push([String(status), answer(`Refused: ${types.join(', ')}.`, schemaRef('Refusal'), headers)]);
  }
  return Object.fromEntries(responses);
}

/** Statuses other than 200, which also carries what a tool itself reports. */
function typesByStatus(): readonly (readonly [number, readonly ErrorType[]])[] {
  const byStatus = new Map<number, ErrorType[]>();
  for (const type of TYPES) {
    const { origin, http } = ERROR_TYPES[type];
    const statuses = new Set([http, errorRow(type, origin, 'PAYLOAD_MISMATCH').http]);
    for (const status of statuses) byStatus.set(status, [...(byStatus.get(status) ?? []), type]);
  }
  byStatus.delete(200);
  return [...byStatus].sort(([left], [right]) => left - right);
}

function typeTable(): string {
  const rows = TYPES.map((type) => {
    const { origin, http, retryable } = ERROR_TYPES[type];
    return `| ${type} | ${origin} | ${http} | ${retryable ? 'yes' : 'no'} |`;
  });
  return [
    'A closed list. A type that a tool reports itself (origin `tool`) comes with status 200.',
    '',
    '| type | origin | HTTP | retryable |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}
