// JSON that others wrote, read without rounding: a number that no double holds is found before a parser changes it.

/** JavaScript's own, not yet known to TypeScript: an object that JSON.stringify writes as the text it holds. */
interface ExactNumber {
  readonly rawJSON: string;
}
declare global {
  interface JSON {
    rawJSON(text: string): ExactNumber;
    isRawJSON(value: unknown): value is ExactNumber;
  }
}

/** A number of any length, for JSON.stringify. `digits`: as JSON writes it. */
export function exactNumber(digits: string): object {
  return JSON.rawJSON(digits);
}

export function isExactNumber(value: unknown): value is ExactNumber {
  return JSON.isRawJSON(value);
}

/** Cheap sign of such a number: 16 digits in a row, or an exponent. */
const SUSPECT = /\d{16}|\d[eE]\+?\d/;
const QUOTE = 0x22, BACKSLASH = 0x5c, MINUS = 0x2d, ZERO = 0x30, NINE = 0x39; // oxfmt-ignore
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const NUMBER_TEXT = /[-+.0-9eE]*/y;

/** The same JSON, in which every such number is a string with the characters it was written as. Linear in the text. */
export function withExactNumbers(json: string): string {
  if (!SUSPECT.test(json)) return json;
  let written = '';
  let from = 0;
  for (const [start, end] of inexactNumbers(json)) {
    written += `${json.slice(from, start)}"${json.slice(start, end)}"`;
    from = end;
  }
  return from === 0 ? json : written + json.slice(from);
}

/** The first such number, as it was written; or the first that `isFault` tells of those that may be such numbers. */
export function inexactNumberIn(json: string, isFault = isInexact): string | undefined {
  if (!SUSPECT.test(json)) return undefined;
  const [first] = inexactNumbers(json, isFault);
  return first && json.slice(...first);
}

/** Integers beyond 2^53 − 1 and what is beyond the range of a double. A fraction is an approximation by its nature. */
function isInexact(text: string): boolean {
  if (!NUMBER.test(text)) return false;
  const value = Number(text);
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

function* inexactNumbers(json: string, isFault = isInexact): Generator<[start: number, end: number]> {
  let at = 0;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER_TEXT.lastIndex = at;
      NUMBER_TEXT.test(json);
      const end = Math.max(NUMBER_TEXT.lastIndex, at + 1);
      if (isFault(json.slice(at, end))) yield [at, end];
      at = end;
    } else at += 1;
  }
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (let code = json.charCodeAt(at); at < json.length && code !== QUOTE; code = json.charCodeAt(at))
    at += code === BACKSLASH ? 2 : 1;
  return at + 1;
}
