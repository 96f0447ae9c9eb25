// Calls on the wire. Their bodies are read by hand (read-call.ts): every call passes there, and a refusal of one is a call.
import { z } from 'zod';
import { INTERACTION_MODES } from '../../../contract/tool/tool-spec.ts';
import { json, route } from '../route/route.ts';
import { flag, list, named, object, oneOf, shape, strictBody, text } from '../route/shapes.ts';
import { ToolName } from '../tools/schema.ts';
import { Envelope, envelopeAnswers, LIMIT_HEADERS } from './envelope.ts';
import { callHeaders, preferHeader } from './headers.ts';

const TAG = 'calls';

const field = (description: string) => z.string().min(1).max(512).optional().describe(description);

export const ToolContext = named('ToolContext', () =>
  z.strictObject({
    session_id: field('The conversation the call belongs to.'),
    agent_id: field('The agent the call is made for; the credential must be allowed to speak for it.'),
    user_id: field('The user the call is made for.'),
    tenant_id: field('Must be the tenant of the credential.'),
    business_id: field('Another name for tenant_id.'),
    mode: oneOf(INTERACTION_MODES).optional(),
    turn_id: field('The turn of the conversation.'),
    idempotency_key: field('As the header Idempotency-Key.'),
    confirmation_token: field('Redeems an approval of exactly this call.'),
    dry_run: flag('Asks what the call would do, without doing it.').optional(),
    cursor: field('From meta.truncated of an earlier answer: go on after its last item.'),
    tool_version: field(
      'The version of the tool to run: its content_hash, or its version. The one in force when left out.',
    ),
    traceparent: field('W3C trace context; the header of this name comes first.'),
    tracestate: field('W3C trace state.'),
  }),
);

const Callback = named('Callback', () =>
  z.strictObject({
    url: text('An https URL of a host that the operator allows.').meta({ format: 'uri' }),
  }),
);

const callFields = () => ({
  arguments: object('Checked against the input schema of the tool.').optional(),
  context: ToolContext().optional(),
});

const CallRequest = named('CallRequest', () =>
  strictBody('{"arguments": {…}, "context": {…}}', { ...callFields(), callback: Callback().optional() }),
);

const BatchCall = named('BatchCall', () => z.strictObject({ tool: text(), ...callFields() }));
const BatchRequest = named('BatchRequest', () => z.object({ calls: z.array(BatchCall()).min(1) }));
const BatchResponse = named('BatchResponse', () =>
  z.object({ responses: list(Envelope()).describe('In the order of the calls.') }),
);

export const executeTool = route({
  operationId: 'executeTool',
  method: 'post',
  path: '/v1/tools/{name}/execute',
  tag: TAG,
  summary: 'Call one tool',
  description:
    'Always answers with an envelope. A tool that ran and reports an error itself answers 200, `ok: false`.',
  params: { name: ToolName },
  headers: shape(() => callHeaders().extend({ Prefer: preferHeader() })),
  body: {
    shape: CallRequest,
    example: { arguments: { a: 1, b: 2 }, context: { session_id: 's-1', mode: 'text' } },
  },
  answers: envelopeAnswers(json('The envelope.', Envelope, LIMIT_HEADERS)),
});

export const executeTools = route({
  operationId: 'executeTools',
  method: 'post',
  path: '/v1/execute',
  tag: TAG,
  summary: 'Call several tools at once',
  description:
    'The calls run in parallel, each with an envelope of its own; the order is kept. A body that holds no list ' +
    'of calls is refused as one.',
  headers: shape(callHeaders),
  body: { shape: BatchRequest, example: { calls: [{ tool: 'calculate_sum', arguments: { a: 1, b: 2 } }] } },
  answers: envelopeAnswers(json('One envelope per call.', BatchResponse)),
});
