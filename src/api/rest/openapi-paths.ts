// OpenAPI paths: every route of the REST door, in the order of the reference.
import type { JsonObject } from '../../contract/json.ts';
import { TOOL_FORMATS } from '../../formats/to-provider-tools.ts';
import { asyncPaths } from './openapi-async.ts';
import { circuitPaths } from './openapi-circuits.ts';
import { definitionPaths } from './openapi-definitions.ts';
import { recordingPaths } from './openapi-recordings.ts';
import { replicaPaths } from './openapi-replicas.ts';
import { historyPaths } from './openapi-history.ts';
import { schedulePaths } from './openapi-schedules.ts';
import { specPaths } from './openapi-specs.ts';
import { envelopeResponses, LIMIT_HEADERS } from './openapi-envelope.ts';
import { answer, body, JSON_TYPE, managed, parameterRef, query, schemaRef } from './openapi-parts.ts';

const TOOL_NAME = parameterRef('ToolName');
const APPROVAL_ID = parameterRef('ApprovalId');
const CALL_HEADERS = [parameterRef('TimeoutMs'), parameterRef('IdempotencyKey')];

const callPaths: JsonObject = {
  '/v1/tools/{name}/execute': {
    post: {
      operationId: 'executeTool',
      tags: ['calls'],
      summary: 'Call one tool',
      description:
        'Always answers with an envelope. A tool that ran and reports an error itself answers 200, `ok: false`.',
      parameters: [TOOL_NAME, ...CALL_HEADERS, parameterRef('Prefer')],
      requestBody: body(schemaRef('CallRequest'), {
        arguments: { a: 1, b: 2 },
        context: { session_id: 's-1', mode: 'text' },
      }),
      responses: envelopeResponses(answer('The envelope.', schemaRef('Envelope'), LIMIT_HEADERS)),
    },
  },
  '/v1/execute': {
    post: {
      operationId: 'executeTools',
      tags: ['calls'],
      summary: 'Call several tools at once',
      description:
        'The calls run in parallel, each with an envelope of its own; the order is kept. A body that holds no list ' +
        'of calls is refused as one.',
      parameters: CALL_HEADERS,
      requestBody: body(schemaRef('BatchRequest'), {
        calls: [{ tool: 'calculate_sum', arguments: { a: 1, b: 2 } }],
      }),
      responses: envelopeResponses(answer('One envelope per call.', schemaRef('BatchResponse'))),
    },
  },
};

const listParameters = [
  query('tool_type', 'Only tools of this executor.', { type: 'string' }),
  query('category', 'Only tools of this category.', { type: 'string' }),
  query('tag', 'Only tools with this tag.', { type: 'string' }),
  query('mode', 'Only tools served in this mode.', { enum: ['voice', 'text'] }),
  query('format', 'Answer in the form that a provider takes, the whole list at once.', {
    enum: [...TOOL_FORMATS],
  }),
  query('strict', 'With `format`: the strict mode of the provider, for every tool whose schema allows it.', {
    type: 'boolean',
    default: false,
  }),
  parameterRef('PageSize'),
  query('page_token', 'The `next_page_token` of the page before.', { type: 'string' }),
  { name: 'If-None-Match', in: 'header', schema: { type: 'string' } },
];

const listAnswer: JsonObject = {
  description: 'The tools.',
  headers: { ETag: { $ref: '#/components/headers/ETag' } },
  content: {
    [JSON_TYPE]: { schema: { anyOf: [schemaRef('ToolPage'), schemaRef('ProviderTools')] } },
    'text/plain': { schema: { type: 'string', description: 'With `format=prompt`.' } },
  },
};

const listTools = managed(
  {
    operationId: 'listTools',
    tags: ['tools'],
    summary: 'List tools, or export them for an LLM provider',
    parameters: listParameters,
  },
  listAnswer,
  ['BadRequest'],
);

const toolPaths: JsonObject = {
  '/v1/tools': {
    get: {
      ...listTools,
      responses: {
        ...(listTools['responses'] as JsonObject),
        '304': { description: 'The list is the one of If-None-Match.' },
      },
    },
  },
  '/v1/tools/{name}': {
    get: managed(
      { operationId: 'getTool', tags: ['tools'], summary: 'Describe one tool', parameters: [TOOL_NAME] },
      answer('The tool.', schemaRef('Tool')),
      ['NotFound'],
    ),
  },
  '/v1/tools/{name}/docs': {
    get: managed(
      {
        operationId: 'getToolDocs',
        tags: ['tools'],
        summary: 'Read the full documentation of a tool',
        parameters: [TOOL_NAME],
      },
      answer('The documentation.', schemaRef('ToolDocs')),
      ['NotFound'],
    ),
  },
  '/v1/registry': {
    get: managed(
      { operationId: 'getRegistry', tags: ['tools'], summary: 'The version of the set of tools in force' },
      answer('The registry.', schemaRef('Registry')),
    ),
  },
  '/v1/pipeline': {
    get: managed(
      {
        operationId: 'getPipeline',
        tags: ['tools'],
        summary: 'The steps every call goes through, outermost first',
      },
      answer('The pipeline.', schemaRef('Pipeline')),
    ),
  },
};

const approvalPaths: JsonObject = {
  '/v1/approvals': {
    get: managed(
      {
        operationId: 'listApprovals',
        tags: ['approvals'],
        summary: 'List approvals, newest first',
        parameters: [
          query('status', 'Only those that stand so.', schemaRef('ApprovalStatus')),
          parameterRef('PageSize'),
        ],
      },
      answer('The approvals.', schemaRef('ApprovalList')),
      ['BadRequest'],
    ),
  },
  '/v1/approvals/{id}': {
    get: managed(
      {
        operationId: 'getApproval',
        tags: ['approvals'],
        summary: 'Read one approval',
        parameters: [APPROVAL_ID],
      },
      answer('The approval.', schemaRef('Approval')),
      ['NotFound'],
    ),
  },
  '/v1/approvals/{id}/decision': {
    post: managed(
      {
        operationId: 'decideApproval',
        tags: ['approvals'],
        summary: 'Approve or reject a call',
        parameters: [APPROVAL_ID],
        requestBody: body(schemaRef('Decision'), { decision: 'approve' }),
      },
      answer('The approval as decided.', schemaRef('Approval')),
      ['BadRequest', 'NotFound', 'Conflict'],
    ),
  },
};

function switchPath(action: 'disable' | 'enable', summary: string): JsonObject {
  return {
    post: managed(
      { operationId: `${action}Tool`, tags: ['admin'], summary, parameters: [TOOL_NAME] },
      answer('Where the switch stands.', schemaRef('ToolSwitch')),
      ['NotFound'],
    ),
  };
}

const adminPaths: JsonObject = {
  '/v1/admin/reload': {
    get: managed(
      { operationId: 'getReloadStatus', tags: ['admin'], summary: 'How the last load of the tools went' },
      answer('The status.', schemaRef('ReloadStatus')),
    ),
    post: managed(
      { operationId: 'reload', tags: ['admin'], summary: 'Load the tools again now' },
      answer('How it went.', schemaRef('ReloadStatus')),
    ),
  },
  '/v1/admin/tools/{name}/disable': switchPath(
    'disable',
    'Switch a tool off at once, also for running sessions',
  ),
  '/v1/admin/tools/{name}/enable': switchPath('enable', 'Switch a tool on again'),
};

function probe(operationId: string, summary: string, responses: JsonObject): JsonObject {
  return { get: { operationId, tags: ['health'], summary, security: [], responses } };
}

const healthPaths: JsonObject = {
  '/livez': probe('livez', 'Whether the process is alive', { '200': answer('Alive.', schemaRef('Health')) }),
  '/readyz': probe('readyz', 'Whether the process takes calls', {
    '200': answer('Ready, perhaps degraded.', schemaRef('Health')),
    '503': answer('Not ready, and why.', schemaRef('Health')),
  }),
};

export const PATHS: JsonObject = {
  ...callPaths,
  ...toolPaths,
  ...historyPaths,
  ...asyncPaths,
  ...approvalPaths,
  ...schedulePaths,
  ...adminPaths,
  ...definitionPaths,
  ...circuitPaths,
  ...replicaPaths,
  ...specPaths,
  ...recordingPaths,
  ...healthPaths,
};
