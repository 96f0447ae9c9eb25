// Calls on the wire. Their bodies are read by hand (read-call.ts): every call passes there, and a refusal of one is a call.
import { z } from 'zod';
import { json, route } from '../route/route.ts';
import { list, named, object, shape, strictBody, text } from '../route/shapes.ts';
import { ToolName } from '../tools/schema.ts';
import { Envelope, envelopeAnswers, LIMIT_HEADERS } from './envelope.ts';
import { callHeaders, preferHeader } from './headers.ts';
import { ProviderCall } from './provider-forms.ts';
import { ToolContext } from './tool-context.ts';

const TAG = 'calls';

export const Callback = named('Callback', () =>
  z.strictObject({
    url: text('An https URL of a host that the operator allows.').meta({ format: 'uri' }),
  }),
);

const callFields = () => ({
  arguments: object('Checked against the input schema of the tool.').optional(),
  context: ToolContext().optional(),
});

const OwnCall = named('OwnCall', () =>
  strictBody('{"arguments": {…}, "context": {…}}', { ...callFields(), callback: Callback().optional() }),
);

/** The model's own call as it came, or the gateway's form. */
const CallRequest = named('CallRequest', () => z.union([OwnCall(), ProviderCall()]));

const BatchCall = named('BatchCall', () => z.strictObject({ tool: text(), ...callFields() }));
const BatchRequest = named('BatchRequest', () =>
  strictBody('{"calls": [{"tool": …, "arguments": {…}}]}', {
    calls: z.array(z.union([BatchCall(), ProviderCall()])).min(1),
  }),
);
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
    'Always answers with an envelope. A tool that ran and reports an error itself answers 200, `ok: false`. A call in the ' +
    'form of OpenAI, Anthropic, Gemini, Bedrock or LangChain is taken as it came; it names the same tool.',
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
    'of calls is refused as one. What a model asked for is taken as it came: `tool_calls` of OpenAI or LangChain, ' +
    '`tool_use` blocks of Anthropic, `functionCall` parts of Gemini, `toolUse` blocks of Bedrock.',
  headers: shape(callHeaders),
  body: { shape: BatchRequest, example: { calls: [{ tool: 'calculate_sum', arguments: { a: 1, b: 2 } }] } },
  answers: envelopeAnswers(json('One envelope per call.', BatchResponse)),
});
