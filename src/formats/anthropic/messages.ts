// Anthropic's Messages API: tool_use blocks are answered with one message of the user that holds a tool_result for each of them.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { IMAGES, PDF, type FilePart } from '../messages/media-type.ts';
import {
  endedBy,
  type AnswerForm,
  type FinishReason,
  type MessageReader,
} from '../messages/model-message.ts';
import { readBlocks } from '../messages/content-list.ts';
import { textOf, type ResultPart } from '../messages/result-parts.ts';
import { anthropicCall } from './call.ts';

const FINISHES: ReadonlyMap<JsonValue | undefined, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
]);

export const anthropicMessage: MessageReader = (said, at) => {
  const { calls, endsWithCall, holder } = readBlocks(said, at, {
    list: 'content',
    role: 'assistant',
    expected: 'must be a message of the Messages API with its content, or the list of its blocks',
    reader: anthropicCall,
  });
  const ended = FINISHES.get(holder['stop_reason']);
  return { ...endedBy(ended, calls), cutsLast: ended === 'length' && endsWithCall, answers: ANSWERS };
};

const ANSWERS: AnswerForm = {
  needsId: true,
  files: { types: new Set([...IMAGES, PDF]), most: 3_750_000 },
  frame: ['[{"role":"user","content":[', ']}]'],
  entry: ({ id, isError, parts }) => ({
    type: 'tool_result',
    tool_use_id: id ?? '',
    content: parts.some(({ kind }) => kind === 'file') ? parts.map(blockOf) : textOf(parts),
    ...(isError && { is_error: true }),
  }),
};

function blockOf(part: ResultPart): JsonObject {
  return part.kind === 'file' ? fileOf(part) : { type: 'text', text: part.text };
}

function fileOf({ type, base64 }: FilePart): JsonObject {
  return {
    type: type === PDF ? 'document' : 'image',
    source: { type: 'base64', media_type: type, data: base64 },
  };
}
