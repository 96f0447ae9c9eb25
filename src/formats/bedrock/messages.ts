// Bedrock's Converse: toolUse blocks are answered with one message of the user that holds a toolResult for each of them.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { IMAGES, PDF, type FilePart } from '../messages/media-type.ts';
import {
  endedBy,
  objectAt,
  type AnswerForm,
  type FinishReason,
  type MessageReader,
} from '../messages/model-message.ts';
import { readBlocks } from '../messages/content-list.ts';
import type { ResultPart } from '../messages/result-parts.ts';
import { bedrockCall } from './call.ts';

const FINISHES: ReadonlyMap<JsonValue | undefined, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['malformed_tool_use', 'refusal'],
  ['malformed_model_output', 'refusal'],
  ['guardrail_intervened', 'refusal'],
  ['content_filtered', 'refusal'],
]);

export const bedrockMessage: MessageReader = (said, at) => {
  const isWhole = isJsonObject(said) && 'output' in said;
  const whole = isWhole ? said : {};
  const { calls, endsWithCall } = readBlocks(...messageOf(said, at, isWhole), {
    list: 'content',
    role: 'assistant',
    expected: 'must be an answer of Converse with its output, its message, or the list of its blocks',
    reader: bedrockCall,
  });
  const ended = FINISHES.get(whole['stopReason']);
  return { ...endedBy(ended, calls), cutsLast: ended === 'length' && endsWithCall, answers: ANSWERS };
};

function messageOf(said: JsonValue, at: string, isWhole: boolean): [message: JsonValue, at: string] {
  if (!isWhole) return [said, at];
  const output = objectAt((said as JsonObject)['output'], `${at}/output`, 'must hold the message');
  return [objectAt(output['message'], `${at}/output/message`, 'must be a message'), `${at}/output/message`];
}

const ANSWERS: AnswerForm = {
  needsId: true,
  files: { types: new Set([...IMAGES, PDF]), most: 3_750_000 },
  frame: ['[{"role":"user","content":[', ']}]'],
  entry: ({ id, isError, parts }) => ({
    toolResult: {
      toolUseId: id ?? '',
      content: parts.map(blockOf),
      status: isError ? 'error' : 'success',
    },
  }),
};

function blockOf(part: ResultPart): JsonObject {
  if (part.kind === 'file') return fileOf(part);
  // Some models take no JSON but objects.
  return part.kind === 'json' && isJsonObject(part.value) ? { json: part.value } : { text: part.text };
}

/** `bytes` is base64, as everywhere in the API's JSON. */
function fileOf({ type, base64, name }: FilePart): JsonObject {
  const source = { bytes: base64 };
  return type === PDF
    ? { document: { format: 'pdf', name, source } }
    : { image: { format: type.slice('image/'.length), source } };
}
