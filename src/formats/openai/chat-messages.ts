// OpenAI's Chat Completions, and who writes the same: an assistant message with tool_calls is answered with a message for each of them.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { findProviderCall } from '../read-provider-call.ts';
import type { ProviderCall } from '../provider-call.ts';
import {
  callAt,
  endedBy,
  heldToRole,
  objectAt,
  onlyOne,
  wrongMessage,
  type AnswerForm,
  type FinishReason,
  type MessageReader,
} from '../messages/model-message.ts';
import { textOf } from '../messages/result-parts.ts';
import { openAiCall } from './call.ts';

const EXPECTED =
  'must be an assistant message of Chat Completions, the whole answer with its choices, or its tool_calls';
const MEMBERS = ['content', 'tool_calls', 'toolCalls', 'function_call', 'refusal', 'role'];
const FINISHES: ReadonlyMap<JsonValue | undefined, FinishReason> = new Map([
  ['length', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'refusal'],
  ['error', 'refusal'],
]);

export const openAiMessage: MessageReader = (said, at) => {
  const { calls, ended } = readChatMessage(said, at);
  return {
    ...endedBy(ended, calls),
    cutsLast: ended === 'length',
    answers: calls.some(({ id }) => id.pointer.endsWith('/function_call/id')) ? OLD : ANSWERS,
  };
};

const ANSWERS: AnswerForm = {
  needsId: true,
  // A message of a tool holds text alone.
  files: { types: new Set(), most: 0 },
  frame: ['[', ']'],
  entry: ({ id, parts }) => ({ role: 'tool', tool_call_id: id ?? '', content: textOf(parts) }),
};
/** Before there were tools. */
const OLD: AnswerForm = {
  ...ANSWERS,
  needsId: false,
  entry: ({ name, parts }) => ({ role: 'function', name, content: textOf(parts) }),
};

/** Of Mistral as well, whose TypeScript SDK writes `toolCalls`. */
export function readChatMessage(said: JsonValue, at: string) {
  if (Array.isArray(said)) return { calls: said.flatMap((each, index) => toolCall(each, `${at}/${index}`)) };
  const whole = objectAt(said, at, EXPECTED);
  if (!('choices' in whole)) return { calls: callsOf(whole, at), ...endedBySaid(undefined, whole) };
  const [choice, choiceAt] = onlyOne(whole['choices'] ?? null, `${at}/choices`);
  const message = objectAt(choice['message'], `${choiceAt}/message`, EXPECTED);
  const reason = choice['finish_reason'] ?? choice['finishReason'];
  return { calls: callsOf(message, `${choiceAt}/message`), ...endedBySaid(reason, message) };
}

function endedBySaid(reason: JsonValue | undefined, { refusal }: JsonObject): { ended?: FinishReason } {
  const ended = typeof refusal === 'string' && refusal !== '' ? 'refusal' : FINISHES.get(reason);
  return ended === undefined ? {} : { ended };
}

function callsOf(message: JsonObject, at: string): readonly ProviderCall[] {
  if (!MEMBERS.some((member) => member in message)) throw wrongMessage(at, EXPECTED);
  heldToRole(message, 'assistant', at);
  const member = callsMember(message, at);
  const calls = message[member] ?? [];
  if (!Array.isArray(calls)) throw wrongMessage(`${at}/${member}`, 'must be a list of calls');
  const old = isJsonObject(message['function_call'])
    ? openAiCall({ function_call: message['function_call'] })
    : undefined;
  if (calls.length > 0 && old !== undefined)
    throw wrongMessage(`${at}/function_call`, `must not stand beside ${member}: say each call once`);
  if (old !== undefined)
    return [callAt({ ...old, id: { value: undefined, pointer: '/function_call/id' } }, at)];
  return calls.flatMap((each, index) => toolCall(each, `${at}/${member}/${index}`));
}

/** The one of both that holds calls. Throws ToolFailure where each does: nobody decides which of them are to run. */
export function callsMember(message: JsonObject, at: string): 'tool_calls' | 'toolCalls' {
  if (isEmpty(message['toolCalls'])) return 'tool_calls';
  if (isEmpty(message['tool_calls'])) return 'toolCalls';
  throw wrongMessage(`${at}/toolCalls`, 'must not stand beside tool_calls: say each call once');
}

function isEmpty(calls: JsonValue | undefined): boolean {
  return calls === undefined || calls === null || (Array.isArray(calls) && calls.length === 0);
}

/** None: a call of another kind of tools, which is the caller's own. */
function toolCall(said: JsonValue, at: string): readonly ProviderCall[] {
  const entry = objectAt(said, at, 'must be a call: {"id": …, "function": {"name": …, "arguments": …}}');
  if (entry['type'] === 'custom') return [];
  const call = findProviderCall(entry);
  if (call === undefined)
    throw wrongMessage(at, 'must be a call: {"id": …, "function": {"name": …, "arguments": …}}');
  return [callAt(call, at)];
}
