// Mistral: a message for each call, as in OpenAI's Chat Completions, which may hold images; written as its SDK wrote the calls.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { IMAGES } from '../messages/media-type.ts';
import { endedBy, type AnswerForm, type CallAnswer, type MessageReader } from '../messages/model-message.ts';
import { textOf, type ResultPart } from '../messages/result-parts.ts';
import { callsMember, readChatMessage } from '../openai/chat-messages.ts';

export const mistralMessage: MessageReader = (said, at) => {
  const { calls, ended } = readChatMessage(said, at);
  const answers = isFromSdk(said) ? SDK_ANSWERS : ANSWERS;
  return { ...endedBy(ended, calls), cutsLast: ended === 'length', answers };
};

/** Its TypeScript SDK says `toolCalls`, and takes `toolCallId` alone. */
function isFromSdk(said: JsonValue): boolean {
  if (!isJsonObject(said)) return false;
  const [choice] = Array.isArray(said['choices']) ? said['choices'] : [];
  const message = isJsonObject(choice) ? choice['message'] : said;
  return isJsonObject(message) && callsMember(message, '') === 'toolCalls';
}

const ANSWERS: AnswerForm = {
  needsId: true,
  files: { types: new Set(IMAGES), most: 10_000_000 },
  frame: ['[', ']'],
  entry: (answer) => ({ role: 'tool', ...of(answer), tool_call_id: answer.id ?? '' }),
};
const SDK_ANSWERS: AnswerForm = {
  ...ANSWERS,
  entry: (answer) => ({ role: 'tool', ...of(answer, 'imageUrl'), toolCallId: answer.id ?? '' }),
};

function of({ name, parts }: CallAnswer, urlMember = 'image_url'): JsonObject {
  const hasFile = parts.some(({ kind }) => kind === 'file');
  return { name, content: hasFile ? parts.map((part) => chunkOf(part, urlMember)) : textOf(parts) };
}

function chunkOf(part: ResultPart, urlMember: string): JsonObject {
  return part.kind === 'file'
    ? { type: 'image_url', [urlMember]: `data:${part.type};base64,${part.base64}` }
    : { type: 'text', text: part.text };
}
