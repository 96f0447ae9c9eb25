// OpenAPI schemas of requests and of the management side: calls, tools, approvals, reloads, problems.
import type { JsonObject } from '../../contract/json.ts';
import { listOf, orNull, record, schemaRef, text } from './openapi-parts.ts';

const strings = listOf({ type: 'string' });
const nullableText = (description: string) => orNull(text(description));
const time = { type: 'string', format: 'date-time' };
const jsonSchema = (description: string): JsonObject => ({
  type: 'object',
  description,
  additionalProperties: true,
});

const contextField = (description: string, extra: JsonObject = {}) =>
  text(description, { minLength: 1, maxLength: 512, ...extra });

const toolContext: JsonObject = {
  ...record(
    {
      session_id: contextField('The conversation the call belongs to.'),
      agent_id: contextField(
        'The agent the call is made for; the credential must be allowed to speak for it.',
      ),
      user_id: contextField('The user the call is made for.'),
      tenant_id: contextField('Must be the tenant of the credential.'),
      business_id: contextField('Another name for tenant_id.'),
      mode: { enum: ['voice', 'text'] },
      turn_id: contextField('The turn of the conversation.'),
      idempotency_key: contextField('As the header Idempotency-Key.'),
      confirmation_token: contextField('Redeems an approval of exactly this call.'),
      dry_run: { type: 'boolean', description: 'Asks what the call would do, without doing it.' },
      cursor: contextField('From meta.truncated of an earlier answer: go on after its last item.'),
      tool_version: contextField(
        'The version of the tool to run: its content_hash, or its version. The one in force when left out.',
      ),
      traceparent: contextField('W3C trace context; the header of this name comes first.'),
      tracestate: contextField('W3C trace state.'),
    },
    [
      'session_id',
      'agent_id',
      'user_id',
      'tenant_id',
      'business_id',
      'mode',
      'turn_id',
      'idempotency_key',
      'confirmation_token',
      'dry_run',
      'cursor',
      'tool_version',
      'traceparent',
      'tracestate',
    ],
  ),
  additionalProperties: false,
};

const callFields: JsonObject = {
  arguments: {
    type: 'object',
    additionalProperties: true,
    description: 'Checked against the input schema of the tool.',
  },
  context: schemaRef('ToolContext'),
};

const tool = record({
  name: text('What agents call: the name of the tool, or `tool.action`.'),
  provider_name: text('The spelling that LLM providers accept; taken on a call as well.'),
  description: { type: 'string' },
  tool_type: text('The executor that runs it.'),
  input_schema: jsonSchema('JSON Schema of the arguments.'),
  output_schema: orNull(jsonSchema('JSON Schema of the result.')),
  version: { type: 'string' },
  content_hash: text('sha256 of the definition in force, hex: what a call may pin.'),
  category: nullableText('retrieval, action, utility, or a word of the operator.'),
  summary: nullableText('Two to four lines for prompts.'),
  permissions: listOf(text('What the credential of the caller must hold.')),
  risk_level: { enum: ['low', 'medium', 'high', 'critical'] },
  is_dangerous: { type: 'boolean' },
  requires_approval: { type: 'boolean' },
  read_only: { type: 'boolean' },
  idempotent: { type: 'boolean' },
  modes: listOf({ enum: ['voice', 'text'] }),
  tags: strings,
  timeout_ms: { type: 'number' },
  disabled: { type: 'boolean', description: 'Switched off by the kill switch.' },
  deprecated: {
    type: 'boolean',
    description: 'An older form of calling the tool; left out of exports for LLM providers.',
  },
});

const approval = record({
  id: { type: 'string' },
  status: schemaRef('ApprovalStatus'),
  tool: { type: 'string' },
  tool_version: { type: 'string' },
  arguments: { type: 'object', additionalProperties: true, description: 'Exactly what will run.' },
  risk_level: { type: 'string' },
  requested_by: text('The credential that made the call.'),
  agent_id: { type: 'string' },
  user_id: { type: 'string' },
  session_id: { type: 'string' },
  created_at: time,
  expires_at: time,
  decided_by: nullableText('The credential that decided.'),
  decided_at: orNull(time),
  comment: nullableText('What the approver wrote.'),
});

const fileProblem = record(
  {
    file: { type: 'string' },
    line: { type: 'integer', minimum: 1 },
    column: { type: 'integer', minimum: 1 },
    tool: { type: 'string' },
    path: text('Where in the tool: `input_schema.properties.a`.'),
    message: { type: 'string' },
  },
  ['line', 'column', 'tool', 'path'],
);

const pipelineStep = record({
  name: { type: 'string' },
  summary: { type: 'string' },
  on_failure: { enum: ['deny', 'continue'], description: 'What a crash of this step means for the call.' },
});

const problem: JsonObject = {
  description: 'RFC 9457. Further members tell the details.',
  ...record(
    {
      type: { type: 'string', format: 'uri' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      instance: { type: 'string' },
      code: schemaRef('ErrorType'),
      reason: text('An upper-case word inside the type.'),
      retryable: { type: 'boolean' },
      violations: listOf(
        record({ pointer: text('JSON pointer into the request.'), message: { type: 'string' } }),
      ),
    },
    ['violations'],
  ),
  additionalProperties: true,
};

export const REQUEST_AND_MANAGEMENT_SCHEMAS: JsonObject = {
  ToolContext: toolContext,
  CallRequest: {
    ...record({ ...callFields, callback: schemaRef('Callback') }, ['arguments', 'context', 'callback']),
    additionalProperties: false,
  },
  BatchRequest: record({ calls: { ...listOf(schemaRef('BatchCall')), minItems: 1 } }),
  BatchCall: {
    ...record({ tool: { type: 'string' }, ...callFields }, ['arguments', 'context']),
    additionalProperties: false,
  },
  BatchResponse: record({
    responses: { ...listOf(schemaRef('Envelope')), description: 'In the order of the calls.' },
  }),
  Tool: tool,
  ToolPage: record({
    registry_version: { type: 'string' },
    tools: listOf(schemaRef('Tool')),
    next_page_token: text('Empty on the last page.'),
  }),
  ProviderTools: {
    type: ['array', 'object'],
    description: 'With `format`: what the SDK of the provider takes as its tools, the whole list at once.',
  },
  ToolDocs: record({
    name: { type: 'string' },
    summary: { type: 'string' },
    documentation: nullableText('The full text.'),
  }),
  Registry: record({
    version: text('Equal content has an equal version on every replica.'),
    tools: { type: 'integer' },
    functions: { type: 'integer' },
  }),
  Pipeline: record({ request: listOf(schemaRef('PipelineStep')), tool: listOf(schemaRef('PipelineStep')) }),
  PipelineStep: pipelineStep,
  ApprovalStatus: { enum: ['pending', 'approved', 'rejected', 'expired', 'used'] },
  Approval: approval,
  ApprovalList: record({ approvals: listOf(schemaRef('Approval')) }),
  Decision: {
    ...record({ decision: { enum: ['approve', 'reject'] }, comment: { type: 'string', maxLength: 2000 } }, [
      'comment',
    ]),
  },
  ReloadStatus: record({
    ok: {
      type: 'boolean',
      description: 'False: the last load was refused, the set before it is still in force.',
    },
    registry_version: { type: 'string' },
    tools: { type: 'integer' },
    last_attempt_at: { type: 'string' },
    last_success_at: { type: 'string' },
    duration_ms: { type: 'number' },
    problems: listOf(schemaRef('FileProblem')),
    warnings: listOf(schemaRef('FileProblem')),
  }),
  FileProblem: fileProblem,
  ToolSwitch: record({ tool: { type: 'string' }, disabled: { type: 'boolean' } }),
  Health: record(
    {
      status: { enum: ['ok', 'degraded', 'unavailable'] },
      reason: { type: 'string', description: 'Why it takes no calls.' },
      degraded: {
        type: 'object',
        description: 'What it does without now: a sentence for each component of `ute_degraded`.',
        additionalProperties: { type: 'string' },
      },
    },
    ['reason', 'degraded'],
  ),
  Problem: problem,
};
