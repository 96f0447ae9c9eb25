// OpenAI's Responses API: items of type function_call are answered with an item for each of them.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { ProviderCall } from '../provider-call.ts';
import {
  callAt,
  endedBy,
  objectAt,
  wrongMessage,
  type AnswerForm,
  type FinishReason,
  type MessageReader,
} from '../messages/model-message.ts';
import { IMAGES, PDF, type FilePart } from '../messages/media-type.ts';
import { textOf, type ResultPart } from '../messages/result-parts.ts';
import { openAiCall } from './call.ts';

const EXPECTED = 'must be a response with its output, or the list of its items';

export const openAiResponsesMessage: MessageReader = (said, at) => {
  if (Array.isArray(said)) return { ...itemsOf(said, at, undefined), answers: ANSWERS };
  const whole = objectAt(said, at, EXPECTED);
  const { output } = whole;
  if (!Array.isArray(output)) throw wrongMessage(`${at}/output`, EXPECTED);
  return { ...itemsOf(output, `${at}/output`, endOf(whole)), answers: ANSWERS };
};

function endOf({ status, incomplete_details: details }: JsonObject): FinishReason | undefined {
  if (status === 'failed' || status === 'cancelled') return 'refusal';
  if (status !== 'incomplete') return undefined;
  return isJsonObject(details) && details['reason'] === 'content_filter' ? 'refusal' : 'length';
}

function itemsOf(items: readonly JsonValue[], at: string, said: FinishReason | undefined) {
  const calls: ProviderCall[] = [];
  const unfinished = new Set<number>();
  const cutsLast = said === 'length' && isCall(items.at(-1));
  for (const [index, item] of items.entries()) {
    const entry = objectAt(item, `${at}/${index}`, 'must be an item');
    if (entry['type'] !== 'function_call') continue;
    const call = openAiCall(entry);
    if (call === undefined) continue;
    if (UNFINISHED.has(entry['status'])) unfinished.add(calls.length);
    calls.push(callAt(call, `${at}/${index}`));
  }
  const ended = said ?? (calls.length === 0 && items.some(isRefusal) ? 'refusal' : undefined);
  return { ...endedBy(ended, calls), cutsLast, unfinished };
}

const UNFINISHED: ReadonlySet<JsonValue | undefined> = new Set(['incomplete', 'in_progress']);

function isCall(item: JsonValue | undefined): boolean {
  return isJsonObject(item) && item['type'] === 'function_call';
}

function isRefusal(item: JsonValue): boolean {
  const content = isJsonObject(item) ? item['content'] : undefined;
  return Array.isArray(content) && content.some((part) => isJsonObject(part) && part['type'] === 'refusal');
}

const ANSWERS: AnswerForm = {
  needsId: true,
  files: { types: new Set([...IMAGES, PDF]), most: 50_000_000 },
  frame: ['[', ']'],
  entry: ({ id, parts }) => ({
    type: 'function_call_output',
    call_id: id ?? '',
    output: parts.some(({ kind }) => kind === 'file') ? parts.map(partOf) : textOf(parts),
  }),
};

function partOf(part: ResultPart): JsonObject {
  return part.kind === 'file' ? fileOf(part) : { type: 'input_text', text: part.text };
}

function fileOf({ type, base64, name }: FilePart): JsonObject {
  const url = `data:${type};base64,${base64}`;
  return type === PDF
    ? { type: 'input_file', filename: `${name}.pdf`, file_data: url }
    : { type: 'input_image', image_url: url, detail: 'auto' };
}
