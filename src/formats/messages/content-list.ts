// Messages that are a list of blocks or parts, of which some are calls: those of Anthropic, Bedrock and Gemini.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { ProviderCall, ProviderCallReader } from '../provider-call.ts';
import { callAt, heldToRole, objectAt, wrongMessage } from './model-message.ts';

export interface ContentForm {
  /** The member that holds the list. */
  readonly list: string;
  /** What the model is called in it. */
  readonly role: string;
  readonly expected: string;
  readonly reader: ProviderCallReader;
}

export interface ReadBlocks {
  readonly calls: readonly ProviderCall[];
  readonly endsWithCall: boolean;
  /** What the list stands in; an empty object where it came alone. */
  readonly holder: JsonObject;
}

const NOTHING: JsonObject = Object.freeze({});

/** The message, or its list alone. A content that is text holds no call, and neither does none. Throws ToolFailure VALIDATION. */
export function readBlocks(
  said: JsonValue,
  at: string,
  { list, role, expected, reader }: ContentForm,
): ReadBlocks {
  if (Array.isArray(said)) return { ...callsIn(said, at, reader), holder: NOTHING };
  const holder = objectAt(said, at, expected);
  if (!(list in holder)) throw wrongMessage(at, expected);
  heldToRole(holder, role, at);
  const blocks = holder[list] ?? [];
  if (typeof blocks === 'string') return { calls: [], endsWithCall: false, holder };
  if (!Array.isArray(blocks)) throw wrongMessage(`${at}/${list}`, 'must be a list');
  return { ...callsIn(blocks, `${at}/${list}`, reader), holder };
}

function callsIn(blocks: readonly JsonValue[], at: string, reader: ProviderCallReader) {
  let endsWithCall = false;
  const calls = blocks.flatMap((block, index) => {
    if (!isJsonObject(block)) throw wrongMessage(`${at}/${index}`, 'must be an object');
    const call = reader(block);
    endsWithCall = call !== undefined;
    return call === undefined ? [] : [callAt(call, `${at}/${index}`)];
  });
  return { calls, endsWithCall };
}
