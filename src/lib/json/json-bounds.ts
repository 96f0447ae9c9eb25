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

const QUOTE = 0x22, BACKSLASH = 0x5c, COLON = 0x3a, COMMA = 0x2c; // prettier-ignore
const OPEN_LIST = 0x5b, CLOSE_LIST = 0x5d, OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d; // prettier-ignore

/** Odd, and another one in each process: nobody writes names that look alike on purpose. */
const FACTOR = (Math.floor(Math.random() * 2 ** 32) | 1) >>> 0;

/** Names by the end of their hash. */
const RECENT_NAMES = 1024;
const LAST_RECENT = RECENT_NAMES - 1;
/** For a text that is looked through at once. Emptied at each use. */
const RECENT = new Int32Array(RECENT_NAMES);
/** Characters that are looked through in one go. */
const SLICE = 65_536;

/** No place in a text. */
const NOWHERE = -1;

/** Characters of a name at either end. */
const SAMPLE = 64;

/** Undefined: within bounds. Stops where it is more, and does not judge the syntax. `levels` of the whole text. */
export function tooMuchIn(json: string, levels = MOST_LEVELS): TooMuch | undefined {
  return atOnce(sliced(new Look(json, levels, RECENT.fill(0))));
}

/** The same, giving way to others. */
export function tooMuchInLarge(json: string, levels = MOST_LEVELS): Promise<TooMuch | undefined> {
  return inSlices(sliced(new Look(json, levels, new Int32Array(RECENT_NAMES))));
}

function* sliced(look: Look): Generator<void, TooMuch | undefined> {
  for (let said = look.on(); ; said = look.on()) {
    if (said !== 'more') return said;
    yield;
  }
}

/** One look through a text. Where it stands is kept here between slices; within one it is in local variables, which are faster. */
class Look {
  readonly #json: string;
  readonly #levels: number;
  readonly #recent: Int32Array;
  readonly #names = new Set<number>();
  #at = 0;
  #depth = 0;
  #values = 1;
  #lastText = 0;
  /** Where the text with escapes began that it is in. */
  #inText = NOWHERE;

  constructor(json: string, levels: number, recent: Int32Array) {
    this.#json = json;
    this.#levels = levels;
    this.#recent = recent;
  }

  /** Goes on for one slice. */
  on(): TooMuch | 'more' | undefined {
    const json = this.#json;
    const recent = this.#recent;
    const names = this.#names;
    const end = Math.min(this.#at + SLICE, json.length);
    let at = this.#at, depth = this.#depth, values = this.#values, lastText = this.#lastText, inText = this.#inText; // prettier-ignore
    for (; at < end; at++) {
      const code = json.charCodeAt(at);
      if (inText !== NOWHERE) {
        if (code === BACKSLASH) at += 1;
        else if (code === QUOTE) {
          lastText = hashOfText(json, inText, at);
          inText = NOWHERE;
        }
      } else if (code === QUOTE) {
        const quote = json.indexOf('"', at + 1);
        if (quote > at + 1 && json.charCodeAt(quote - 1) === BACKSLASH) inText = at + 1;
        else {
          const endOfText = quote < 0 ? json.length : quote;
          lastText = hashOfText(json, at + 1, endOfText);
          at = endOfText;
        }
      } else if (code === COMMA) values += 1;
      else if (code === COLON) {
        // Most names have been seen just now.
        if (recent[lastText & LAST_RECENT] === lastText) continue;
        recent[lastText & LAST_RECENT] = lastText;
        names.add(lastText);
        if (names.size > MOST_NAMES) return 'names';
      } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
        values += 1;
        depth += 1;
        if (depth > this.#levels) return 'levels';
      } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1;
    }
    if (values > MOST_VALUES) return 'values';
    this.#at = at;
    this.#depth = depth;
    this.#values = values;
    this.#lastText = lastText;
    this.#inText = inText;
    return at < json.length ? 'more' : undefined;
  }
}

/** Told by what it begins and ends with, and by its length: only few names that long fit into a result. */
function hashOfText(json: string, start: number, end: number): number {
  const hash = hashOf(json, start, Math.min(end, start + SAMPLE), end - start + 1);
  return end - start < SAMPLE ? hash : hashOf(json, Math.max(start, end - SAMPLE), end, hash);
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
