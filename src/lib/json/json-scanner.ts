// One walk over JSON text, without recursion, for what JSON.parse lets through. It does not judge the syntax.
import { int64Of } from './int64.ts';
import { toPointer } from './json-pointer.ts';
import {
  duplicateKey,
  faultOfKey,
  faultOfKeyCharacters,
  faultOfString,
  isOutOfRange,
  StrictJsonError,
  TOO_LARGE_NUMBER,
  tooDeep,
  tooManyKeys,
  tooManyTokens,
  type Fault,
  type JsonLimits,
} from './strict-json-error.ts';

const QUOTE = 0x22, PLUS = 0x2b, COMMA = 0x2c, MINUS = 0x2d, DOT = 0x2e, ZERO = 0x30, NINE = 0x39, COLON = 0x3a; // oxfmt-ignore
const OPEN_ARRAY = 0x5b, BACKSLASH = 0x5c, CLOSE_ARRAY = 0x5d, OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d; // oxfmt-ignore
const LETTER_F = 0x66, LETTER_N = 0x6e, LETTER_T = 0x74, UPPER_E = 0x45, LOWER_E = 0x65; // oxfmt-ignore
const SPACE = 0x20;

/** A number shorter than this is in range, if it has no exponent: 2^53 has sixteen digits. */
const SAFE_DIGITS = 15;

/** Up to here a list of keys is searched faster than a Set is made. */
const FEW_KEYS = 8;

/** Throws StrictJsonError. Text that passes may still be no JSON, but then JSON.parse refuses it. */
export function scanJson(text: string, limits: JsonLimits, largeIntegers?: LargeInteger[]): void {
  new Scanner(text, limits, largeIntegers).scan();
}

/** An integer of 64 bits that no double holds: it is noted where a list for it is given, and refused otherwise. */
export interface LargeInteger {
  readonly pointer: string;
  readonly start: number;
  readonly end: number;
}

class Scanner {
  readonly #text: string;
  readonly #limits: JsonLimits;
  #at = 0;
  #tokens = 0;
  #keysSeen = 0;
  readonly #wellFormed: boolean;
  /** The first backslash not before the string being read. */
  #backslash = -1;
  /** Per open level: the keys seen so far (an object; a Set once they are many), or undefined (an array). */
  readonly #keys: (string[] | Set<string> | undefined)[] = [];
  /** Per open level: the key or the index of the member being read. */
  readonly #path: (string | number)[] = [];

  readonly #largeIntegers: LargeInteger[] | undefined;

  constructor(text: string, limits: JsonLimits, largeIntegers: LargeInteger[] | undefined) {
    this.#largeIntegers = largeIntegers;
    this.#text = text;
    this.#wellFormed = text.isWellFormed();
    this.#limits = limits;
  }

  scan(): void {
    const text = this.#text;
    while (this.#at < text.length) {
      const code = text.charCodeAt(this.#at);
      if (code <= SPACE || code === COLON) this.#at += 1;
      else if (code === QUOTE) this.#string();
      else if (code === COMMA) this.#comma();
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.#open(code === OPEN_OBJECT);
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) this.#close();
      else if (code === MINUS || isDigit(code)) this.#number();
      else this.#word(code);
    }
  }

  #open(isObject: boolean): void {
    this.#count();
    if (this.#path.length >= this.#limits.depth) this.#refuse(tooDeep(this.#limits), this.#at);
    this.#keys.push(isObject ? [] : undefined);
    this.#path.push(0);
    this.#at += 1;
  }

  #close(): void {
    if (this.#path.length === 0) throw new StrictJsonError('SYNTAX', 'is not valid JSON', '', this.#at);
    this.#keys.pop();
    this.#path.pop();
    this.#at += 1;
  }

  #comma(): void {
    const index = this.#path.at(-1);
    if (typeof index === 'number') this.#path[this.#path.length - 1] = index + 1;
    this.#at += 1;
  }

  #string(): void {
    this.#count();
    const start = this.#at;
    const end = this.#endOfString(start);
    this.#at = end + 1;
    const keys = this.#keys.at(-1);
    if (keys !== undefined && this.#colonFollows()) this.#key(start, end, keys);
    else if (this.#needsReading(start, end)) {
      const fault = faultOfString(this.#read(start, end), this.#limits);
      if (fault !== undefined) this.#refuse(fault, start);
    }
  }

  /** Most values hold no escape, nothing malformed and are short: those are passed over without being cut out. */
  #needsReading(start: number, end: number): boolean {
    return this.#hasEscape(start, end) || !this.#wellFormed || (end - start) * 3 > this.#limits.stringBytes;
  }

  #read(start: number, end: number): string {
    return this.#hasEscape(start, end) ? this.#unescape(start, end) : this.#text.slice(start + 1, end);
  }

  #key(start: number, end: number, keys: string[] | Set<string>): void {
    const path = this.#path;
    this.#keysSeen += 1;
    if (this.#keysSeen > this.#limits.keys) this.#refuse(tooManyKeys(this.#limits), start, []);
    const key = this.#read(start, end);
    const mayBeOdd = !this.#wellFormed || this.#hasEscape(start, end);
    const fault =
      faultOfKey(key, path.at(-2), this.#limits) ?? (mayBeOdd ? faultOfKeyCharacters(key) : undefined);
    if (fault !== undefined) this.#refuse(fault, start, path.slice(0, -1));
    if (Array.isArray(keys) ? keys.includes(key) : keys.has(key)) {
      throw duplicateKey(toPointer(path.slice(0, -1)), key, start);
    }
    if (!Array.isArray(keys)) keys.add(key);
    else if (keys.push(key) > FEW_KEYS) this.#keys[this.#keys.length - 1] = new Set(keys);
    path[path.length - 1] = key;
  }

  #number(): void {
    this.#count();
    const text = this.#text;
    const start = this.#at;
    let at = start + 1;
    let hasExponent = false;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === LOWER_E || code === UPPER_E) hasExponent = true;
      else if (!isDigit(code) && code !== DOT && code !== MINUS && code !== PLUS) break;
    }
    this.#at = at;
    if ((hasExponent || at - start > SAFE_DIGITS) && isOutOfRange(Number(text.slice(start, at)))) {
      if (this.#largeIntegers === undefined || int64Of(text.slice(start, at)) === undefined)
        this.#refuse(TOO_LARGE_NUMBER, start);
      this.#largeIntegers.push({ pointer: toPointer(this.#path), start, end: at });
    }
  }

  /** `true`, `false`, `null`; whatever else begins like them is left to JSON.parse. */
  #word(code: number): void {
    if (code === LETTER_T || code === LETTER_F || code === LETTER_N) {
      this.#count();
      this.#at += code === LETTER_F ? 'false'.length : 'true'.length;
    } else throw new StrictJsonError('SYNTAX', 'is not valid JSON', toPointer(this.#path), this.#at);
  }

  /** Where the closing quote stands: the first one after an even number of backslashes. */
  #endOfString(start: number): number {
    const text = this.#text;
    for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
      if (!this.#hasEscape(start, at)) return at;
      let before = at - 1;
      while (before > start && text.charCodeAt(before) === BACKSLASH) before -= 1;
      if ((at - before) % 2 === 1) return at;
    }
    throw new StrictJsonError('SYNTAX', 'has a string without an end', toPointer(this.#path), start);
  }

  #hasEscape(start: number, end: number): boolean {
    if (this.#backslash < start) {
      const next = this.#text.indexOf('\\', start);
      this.#backslash = next === -1 ? this.#text.length : next;
    }
    return this.#backslash < end;
  }

  #unescape(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      throw new StrictJsonError('SYNTAX', 'has a malformed string', toPointer(this.#path), start);
    }
  }

  #colonFollows(): boolean {
    const text = this.#text;
    while (text.charCodeAt(this.#at) <= SPACE) this.#at += 1;
    return text.charCodeAt(this.#at) === COLON;
  }

  #count(): void {
    this.#tokens += 1;
    if (this.#tokens > this.#limits.tokens) this.#refuse(tooManyTokens(this.#limits), this.#at, []);
  }

  #refuse(
    { reason, message }: Fault,
    offset: number,
    path: readonly (string | number)[] = this.#path,
  ): never {
    throw new StrictJsonError(reason, message, toPointer(path), offset);
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
