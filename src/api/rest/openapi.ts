// The OpenAPI 3.1 document of the REST door.
import type { JsonObject } from '../../contract/json.ts';
import { ASYNC_PARAMETERS, ASYNC_SCHEMAS } from './openapi-async.ts';
import { CIRCUIT_PARAMETERS, CIRCUIT_SCHEMAS } from './openapi-circuits.ts';
import { DEFINITION_SCHEMAS } from './openapi-definitions.ts';
import { REPLICA_SCHEMAS } from './openapi-replicas.ts';
import { HISTORY_SCHEMAS } from './openapi-history.ts';
import { RECORDING_PARAMETERS, RECORDING_SCHEMAS } from './openapi-recordings.ts';
import { ENVELOPE_SCHEMAS } from './openapi-envelope.ts';
import { SCHEDULE_PARAMETERS, SCHEDULE_SCHEMAS } from './openapi-schedules.ts';
import { SPEC_PARAMETERS, SPEC_SCHEMAS } from './openapi-specs.ts';
import { PROBLEM_TYPE, schemaRef } from './openapi-parts.ts';
import { PATHS } from './openapi-paths.ts';
import { REQUEST_AND_MANAGEMENT_SCHEMAS } from './openapi-schemas.ts';

const DESCRIPTION = `Declares, lists and calls tools of any kind under one policy.

Call endpoints always answer with the envelope; all other routes answer errors as \`application/problem+json\`. A query
parameter that a route does not know is refused.`;

const TAGS: JsonObject[] = [
  { name: 'calls', description: 'Calling tools.' },
  { name: 'tools', description: 'What can be called, and how.' },
  { name: 'approvals', description: 'Calls that wait for a decision by a human.' },
  { name: 'schedules', description: 'Calls to come, once or again and again.' },
  { name: 'admin', description: 'For operators.' },
  { name: 'specs', description: 'Definitions of tools, changed while the gateway runs.' },
  { name: 'health', description: 'Probes.' },
];

const PARAMETERS: JsonObject = {
  ToolName: {
    name: 'name',
    in: 'path',
    required: true,
    description: 'The name of a tool or `tool.action`; the spelling for providers is taken as well.',
    schema: { type: 'string', maxLength: 256 },
  },
  ApprovalId: { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 256 } },
  PageSize: {
    name: 'page_size',
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  },
  TimeoutMs: {
    name: 'X-Request-Timeout-Ms',
    in: 'header',
    description: 'How long the caller waits. The smallest of this and the limits of gateway and tool counts.',
    schema: { type: 'integer', minimum: 1 },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same key with the same call gives the same answer: the tool runs once.',
    schema: { type: 'string', minLength: 1, maxLength: 512 },
  },
};

const HEADERS: JsonObject = {
  Deprecation: {
    description: 'The call was made in a deprecated form; since when (RFC 9745).',
    schema: { type: 'string', examples: ['@1767225600'] },
  },
  Link: {
    description: 'With Deprecation: what to call instead.',
    schema: {
      type: 'string',
      examples: ['</v1/tools/calendar.list_events/execute>; rel="successor-version"'],
    },
  },
  RateLimit: {
    description: 'Where each limit stands: name, remaining calls (r), seconds until reset (t).',
    schema: { type: 'string', examples: ['"tenant";r=19;t=3'] },
  },
  'RateLimit-Policy': {
    description: 'The limits: name, quota (q), window in seconds (w).',
    schema: { type: 'string', examples: ['"tenant";q=20;w=60'] },
  },
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } },
  Location: {
    description:
      'The approval that the call waits for, the call that was accepted, or the schedule that was made.',
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { schema: { type: 'string', examples: ['Bearer'] } },
  ETag: { description: 'Changes with the set of tools.', schema: { type: 'string' } },
};

const RESPONSES: JsonObject = {
  Problem: problem('Any other error.'),
  BadRequest: problem('A parameter or the body is not valid; `violations` says which.'),
  Unauthenticated: problem('No credential, or one that is not valid.'),
  PermissionDenied: problem('The credential lacks the permission.'),
  NotFound: problem('There is nothing of this name.'),
  PreconditionFailed: problem('It was changed since it was looked at.'),
  Conflict: problem('It was decided otherwise, or has expired.'),
};

const SECURITY_SCHEMES: JsonObject = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key as a bearer token.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
};

/** Either will do. */
const SECURITY: JsonObject[] = [{ bearer: [] }, { apiKey: [] }];

/** `publicUrl`: where callers reach the gateway; without it, the document's own host. */
export function buildOpenApi(info: { readonly version: string; readonly publicUrl?: string }): JsonObject {
  const document: JsonObject = {
    openapi: '3.1.0',
    info: { title: 'UnifiedToolExecutor', version: info.version, description: DESCRIPTION },
    servers: [{ url: info.publicUrl ?? '/' }],
    security: SECURITY,
    tags: TAGS,
    paths: PATHS,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: {
        ...PARAMETERS,
        ...CIRCUIT_PARAMETERS,
        ...SPEC_PARAMETERS,
        ...SCHEDULE_PARAMETERS,
        ...ASYNC_PARAMETERS,
        ...RECORDING_PARAMETERS,
      },
      headers: HEADERS,
      responses: RESPONSES,
      schemas: {
        ...ENVELOPE_SCHEMAS,
        ...REQUEST_AND_MANAGEMENT_SCHEMAS,
        ...DEFINITION_SCHEMAS,
        ...CIRCUIT_SCHEMAS,
        ...ASYNC_SCHEMAS,
        ...HISTORY_SCHEMAS,
        ...REPLICA_SCHEMAS,
        ...SPEC_SCHEMAS,
        ...SCHEDULE_SCHEMAS,
        ...RECORDING_SCHEMAS,
      },
    },
  };
  return structuredClone(document);
}

function problem(description: string): JsonObject {
  return { description, content: { [PROBLEM_TYPE]: { schema: schemaRef('Problem') } } };
}
