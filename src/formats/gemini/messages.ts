// Gemini's generateContent: functionCall parts are answered with one content of the user that holds a functionResponse for each of them.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { PDF, type FilePart } from '../messages/media-type.ts';
import {
  endedBy,
  objectAt,
  onlyOne,
  type AnswerForm,
  type CallAnswer,
  type FinishReason,
  type MessageReader,
} from '../messages/model-message.ts';
import { readBlocks } from '../messages/content-list.ts';
import { textOf, type FileRules } from '../messages/result-parts.ts';
import { geminiCall } from './call.ts';

/** Reasons that are none of these end an answer that is refused: safety in a dozen words. */
const FINISHES: ReadonlyMap<JsonValue | undefined, FinishReason | undefined> = new Map([
  [undefined, undefined],
  [null, undefined],
  ['STOP', undefined],
  ['FINISH_REASON_UNSPECIFIED', undefined],
  ['MAX_TOKENS', 'length'],
]);
/** These take no files in the answer to a call. */
const TEXT_ONLY = /^(?:models\/)?gemini-[12]\b/;

export const geminiMessage: MessageReader = (said, at) => {
  const { content, contentAt, ending, model } = found(said, at);
  const { calls } = readBlocks(content, contentAt, {
    list: 'parts',
    role: 'model',
    expected:
      'must be an answer of generateContent with its candidates, its content, or the list of its parts',
    reader: geminiCall,
  });
  const ended = FINISHES.has(ending) ? FINISHES.get(ending) : 'refusal';
  // Calls come whole, or not at all: none is cut off.
  return { ...endedBy(ended, calls), answers: formOf(typeof model === 'string' && TEXT_ONLY.test(model)) };
};

interface Found {
  readonly content: JsonValue;
  readonly contentAt: string;
  readonly ending?: JsonValue | undefined;
  readonly model?: JsonValue | undefined;
}

function found(said: JsonValue, at: string): Found {
  if (!isJsonObject(said)) return { content: said, contentAt: at };
  const candidates = said['candidates'];
  const feedback = said['promptFeedback'] ?? said['prompt_feedback'];
  // A prompt that is refused has no candidate.
  if (candidates === undefined && isJsonObject(feedback))
    return { content: [], contentAt: at, ending: 'SAFETY' };
  if (candidates === undefined) return { content: said, contentAt: at };
  const [candidate, candidateAt] = onlyOne(candidates, `${at}/candidates`);
  return {
    content: objectAt(candidate['content'] ?? { parts: [] }, `${candidateAt}/content`, 'must be a content'),
    contentAt: `${candidateAt}/content`,
    ending: candidate['finishReason'] ?? candidate['finish_reason'],
    model: said['modelVersion'] ?? said['model_version'],
  };
}

const NO_FILES: FileRules = { types: new Set(), most: 0 };
const FILES: FileRules = {
  types: new Set(['image/png', 'image/jpeg', 'image/webp', PDF]),
  most: 20_000_000,
};

function formOf(isTextOnly: boolean): AnswerForm {
  return {
    needsId: false,
    files: isTextOnly ? NO_FILES : FILES,
    frame: ['[{"role":"user","parts":[', ']}]'],
    entry,
  };
}

function entry(answer: CallAnswer): JsonObject {
  const { name, id, isError, parts } = answer;
  const files = parts.filter((part): part is FilePart => part.kind === 'file');
  return {
    functionResponse: {
      ...(id !== undefined && { id }),
      name,
      response: { [isError ? 'error' : 'output']: outputOf(answer) },
      ...(files.length > 0 && { parts: files.map(filePart) }),
    },
  };
}

/** One value where there is one, else what can be said of them in a text. */
function outputOf({ parts }: CallAnswer): JsonValue {
  const [only] = parts;
  return parts.length === 1 && only?.kind === 'json' ? only.value : textOf(parts);
}

function filePart({ type, base64, name }: FilePart): JsonObject {
  return { inlineData: { mimeType: type, data: base64, displayName: name } };
}
