// What an ended call was answered, read back from the text of its envelope. Its data may be large: it stays the text that it is.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { parseOwn } from '../../../lib/large-json/parse-json.ts';

/** In the words of the wire. */
export type StoredAnswer =
  | {
      readonly ok: true;
      readonly dataJson: string;
      readonly intents: readonly JsonValue[];
      readonly meta: JsonObject;
    }
  | { readonly ok: false; readonly error: JsonObject; readonly meta: JsonObject };

const HEAD = '{"ok":true,"data":';
const INTENTS = ',"intents":';
const META = ',"meta":';

/** Throws Error where the text is no envelope. */
export async function readStoredAnswer(envelope: string): Promise<StoredAnswer> {
  const success = successIn(envelope);
  if (success !== undefined) return success;
  const read = await parseOwn(envelope);
  const { ok, error, meta, data = null, intents = [] } = isJsonObject(read) ? read : {};
  if (isJsonObject(meta) && ok === false && isJsonObject(error)) return { ok, error, meta };
  if (isJsonObject(meta) && ok === true && Array.isArray(intents))
    return { ok, dataJson: JSON.stringify(data), intents, meta };
  throw new Error('what is kept of a call is no envelope');
}

/** As the gateway writes them: data first, and what is small behind it, where it is found from the end. */
function successIn(envelope: string): StoredAnswer | undefined {
  if (!envelope.startsWith(HEAD) || !envelope.endsWith('}')) return undefined;
  const meta = lastBefore(envelope, envelope.length - 1, META);
  const intents = meta && lastBefore(envelope, meta.from, INTENTS);
  if (intents === undefined || !isJsonObject(meta?.value) || !Array.isArray(intents.value)) return undefined;
  const dataJson = envelope.slice(HEAD.length, intents.from);
  return { ok: true, dataJson, intents: intents.value, meta: meta.value };
}

/** The object or list that ends at `end`, and where the name before it begins. */
function lastBefore(
  text: string,
  end: number,
  name: string,
): { readonly value: JsonValue; readonly from: number } | undefined {
  const start = startOfLast(text, end);
  if (start === undefined || !text.endsWith(name, start)) return undefined;
  return { value: JSON.parse(text.slice(start, end)) as JsonValue, from: start - name.length };
}

/** Of valid JSON, read backwards: a quote with an odd number of backslashes before it is inside of a string. */
function startOfLast(text: string, end: number): number | undefined {
  let depth = 0;
  for (let at = end - 1; at >= 0; at -= 1) {
    const character = text[at];
    if (character === '"') at = openingQuote(text, at);
    else if (character === '}' || character === ']') depth += 1;
    else if (character === '{' || character === '[') depth -= 1;
    if (depth === 0) return character === '{' || character === '[' ? at : undefined;
  }
  return undefined;
}

/** -1: there is none. */
function openingQuote(text: string, closing: number): number {
  for (let at = text.lastIndexOf('"', closing - 1); at > 0; at = text.lastIndexOf('"', at - 1)) {
    let before = at;
    while (text[before - 1] === '\\') before -= 1;
    if ((at - before) % 2 === 0) return at;
  }
  return -1;
}
