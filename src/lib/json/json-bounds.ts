// What JSON would cost to parse and to write again, told from its text: levels, values, and names that differ.
// Bytes alone say little: four MiB of short names take a parser a hundred times as long as one long text.
import { atOnce, inSlices } from '../concurrency/in-slices.ts';

/** What of a result is more than the gateway passes on. */
export type TooMuch = 'levels' | 'values' | 'names';

export const MOST_LEVELS = 64;
/** Containers and what they hold. As many of the dearest kind take some 40 ms. */
export const MOST_VALUES = 200_000;
/** Different ones. Rows of a table share theirs; each new one costs as much as dozens of values. */
export const MOST_NAMES = 20_000;

const QUOTE = 0x22, BACKSLASH = 0x5c, COLON = 0x3a, COMMA = 0x2c; // oxfmt-ignore
const OPEN_LIST = 0x5b, CLOSE_LIST = 0x5d, OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d; // oxfmt-ignore

/** Odd, and another one in each process: nobody writes names that look alike on purpose. */
const FACTOR = (Math.floor(Math.random() * 2 ** 32) | 1) >>> 0;

/** Names by the end of their hash. */
const RECENT_NAMES = 1024;
const LAST_RECENT = RECENT_NAMES - 1;
/** For a text that is looked through at once. Emptied at each use. */
const RECENT = new Int32Array(RECENT_NAMES);
/** Characters that are looked through in one go. */
const SLICE = 65_536;

/** Characters of a name at either end. */
const SAMPLE = 64;

/** Undefined: within bounds. Stops where it is more, and does not judge the syntax. `levels` of the whole text. */
export function tooMuchIn(json: string, levels = MOST_LEVELS): TooMuch | undefined {
  return atOnce(found(json, levels, RECENT.fill(0)));
}

/** The same, giving way to others. */
export function tooMuchInLarge(json: string, levels = MOST_LEVELS): Promise<TooMuch | undefined> {
  return inSlices(found(json, levels, new Int32Array(RECENT_NAMES)));
}

function* found(json: string, levels: number, recent: Int32Array): Generator<void, TooMuch | undefined> {
  const names = new Set<number>();
  let pause = SLICE;
  let depth = 0;
  let values = 1;
  let lastText = 0;
  for (let at = 0; at < json.length; at++) {
    if (at > pause) {
      yield;
      pause = at + SLICE;
    }
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfText(json, at + 1, at + SLICE) ?? (yield* endOfLongText(json, at + 1));
      // Told by what they begin and end with, and by their length: only few names that long fit into a result.
      lastText = hashOf(json, at + 1, Math.min(end, at + 1 + SAMPLE), end - at);
      if (end - at > SAMPLE) lastText = hashOf(json, Math.max(at + 1, end - SAMPLE), end, lastText);
      at = end;
    } else if (code === COMMA) values += 1;
    else if (code === COLON) {
      // Most names have been seen just now.
      if (recent[lastText & LAST_RECENT] === lastText) continue;
      recent[lastText & LAST_RECENT] = lastText;
      names.add(lastText);
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      values += 1;
      depth += 1;
      if (depth > levels) return 'levels';
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1;
    else continue;
    if (values > MOST_VALUES) return 'values';
    if (names.size > MOST_NAMES) return 'names';
  }
  return undefined;
}

/** Of the quote that ends the text which begins here. Undefined: there are escapes to be gone through, beyond `limit` too. */
function endOfText(json: string, start: number, limit: number): number | undefined {
  const quote = json.indexOf('"', start);
  if (quote < 0) return json.length;
  if (quote === start || json.charCodeAt(quote - 1) !== BACKSLASH) return quote;
  for (let at = start; at < limit; at++) {
    const code = json.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return undefined;
}

/** The same without a limit, in slices. */
function* endOfLongText(json: string, start: number): Generator<void, number> {
  for (let at = start; at < json.length; yield) {
    const limit = Math.min(at + SLICE, json.length);
    for (; at < limit; at++) {
      const code = json.charCodeAt(at);
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) return at;
    }
  }
  return json.length;
}

function hashOf(json: string, start: number, end: number, seed: number): number {
  let hash = seed ^ FACTOR;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ json.charCodeAt(at), FACTOR);
  return hash;
}

/** For a sentence that begins with what is too large. */
export function boundOf(tooMuch: Exclude<TooMuch, 'levels'>): string {
  return tooMuch === 'values'
    ? `holds more than the ${MOST_VALUES} values that the gateway passes on`
    : `holds more than ${MOST_NAMES} different names of members`;
}
