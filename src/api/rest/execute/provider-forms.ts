// Calls in the forms of models' providers, as the document shows them. They are read by formats/read-provider-call.ts.
import { z } from 'zod';
import { named, object, text } from '../route/shapes.ts';
import { ToolContext } from './tool-context.ts';

const id = () => z.string().max(512).nullish().describe('Stands in the answer as meta.provider_call_id.');
const name = () => text("The tool, in the gateway's spelling or the provider's.");
const written = () =>
  z
    .union([object(), z.string(), z.null()])
    .describe('An object, or an object written as JSON text. Empty text, null: no arguments.');

/** Members that are not listed are the provider's own, and let be. */
const form = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z.looseObject({ ...fields, context: ToolContext().optional() });

const OpenAiToolCall = named('OpenAiToolCall', () =>
  form({ id: id(), function: z.looseObject({ name: name(), arguments: written().optional() }) }).describe(
    'An entry of tool_calls of Chat Completions, and of those who write the same.',
  ),
);
const OpenAiFunctionCall = named('OpenAiFunctionCall', () =>
  form({ name: name(), arguments: written(), call_id: id() }).describe('An item of the Responses API.'),
);
const AnthropicToolUse = named('AnthropicToolUse', () =>
  form({ type: z.literal('tool_use'), id: id(), name: name(), input: written().optional() }).describe(
    'A content block of the Messages API.',
  ),
);
const GeminiFunctionCall = named('GeminiFunctionCall', () =>
  form({
    functionCall: z.looseObject({ id: id(), name: name(), args: written().optional() }),
  }).describe('A part of generateContent.'),
);
const BedrockToolUse = named('BedrockToolUse', () =>
  form({
    toolUse: z.looseObject({ toolUseId: id(), name: name(), input: written().optional() }),
  }).describe('A content block of Converse.'),
);
const LangChainToolCall = named('LangChainToolCall', () =>
  form({ name: name(), args: written(), id: id() }).describe('An entry of tool_calls of an AIMessage.'),
);

export const ProviderCall = named('ProviderCall', () =>
  z.union([
    OpenAiToolCall(),
    OpenAiFunctionCall(),
    AnthropicToolUse(),
    GeminiFunctionCall(),
    BedrockToolUse(),
    LangChainToolCall(),
  ]),
);
