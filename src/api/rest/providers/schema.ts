// A model's message with its calls, and the messages that answer it, on the wire.
import { z } from 'zod';
import { FINISH_REASONS } from '../../../formats/messages/model-message.ts';
import { PROVIDER_NAMES } from '../../../formats/messages/providers.ts';
import { Envelope, envelopeAnswers } from '../execute/envelope.ts';
import { callHeaders } from '../execute/headers.ts';
import { ToolContext } from '../execute/tool-context.ts';
import { json, route } from '../route/route.ts';
import { list, named, object, oneOf, shape } from '../route/shapes.ts';

const tokens = () =>
  z
    .record(z.string(), z.string())
    .optional()
    .describe('Of an answer to the same message: runs the calls that waited, once they are approved.');

const beside = () => ({ context: ToolContext().optional(), confirmation_tokens: tokens() });

const MessageBeside = named('MessageBeside', () =>
  z
    .strictObject({
      message: z
        .union([object(), z.array(z.unknown())])
        .describe('As the provider gave it: its whole answer, the message in it, or its list of calls.'),
      ...beside(),
    })
    .describe('The message, and what belongs to the request.'),
);
const BareMessage = named('BareMessage', () =>
  z.looseObject(beside()).describe('The members of the message, and those that belong to the request.'),
);

/** Read by hand: what a provider puts into its messages is its own business. */
const ModelMessage = named('ModelMessage', () => z.union([MessageBeside(), BareMessage()]));

const ModelAnswers = named('ModelAnswers', () =>
  z.object({
    finish_reason: oneOf(FINISH_REASONS).describe(
      'Why the model stopped, whatever its provider calls that. `tool_calls`: it waits for the messages.',
    ),
    messages: list(object()).describe(
      "To be appended behind the model's own message, in the form of its provider. None: it asked for nothing.",
    ),
    calls: list(Envelope()).describe('In the order of the message, each with its whole answer.'),
    confirmation_tokens: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        'Set where calls wait for a human: once they are approved, send the same message again with this, and the same Idempotency-Key.',
      ),
  }),
);

export const runToolCalls = route({
  operationId: 'runToolCalls',
  method: 'post',
  path: '/v1/providers/{provider}/tool-calls',
  tag: 'calls',
  summary: "Run the calls in a model's message",
  description:
    'Takes what the model answered as it came, runs every call in it, in parallel, and answers with the messages to append, ' +
    'in the form of the same provider. Each call has an envelope of its own, and what went wrong with one is told to the ' +
    'model. A message that cannot be read is refused as one call.',
  params: { provider: shape(() => oneOf(PROVIDER_NAMES)) },
  headers: shape(callHeaders),
  body: {
    shape: ModelMessage,
    example: {
      message: {
        role: 'assistant',
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'calculate_sum', arguments: '{"a": 1, "b": 2}' },
          },
        ],
      },
    },
  },
  answers: envelopeAnswers(json('The messages to append, and the envelopes.', ModelAnswers)),
});
