// StructWriter: a Struct or Value in bytes, written from its end to its beginning: the length of each part stands in front of
// it, and is known by then. Every member is up to three messages in one another, and nothing is kept of any of them.
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { leftAfter } from '../../../lib/large-json/write-json.ts';
import {
  NULL_VALUE,
  NUMBER_VALUE,
  STRING_VALUE,
  BOOL_VALUE,
  STRUCT_VALUE,
  LIST_VALUE,
  FIELDS,
  ENTRY_KEY,
  ENTRY_VALUE,
  LIST_VALUES,
} from './struct-tags.ts';

const FIRST_BYTES = 1024;
/** A tag and a length. */
const HEAD_BYTES = 6;
const DOUBLE_BYTES = 8;
/** What a character of a string takes at most. */
const MOST_PER_CHARACTER = 3;
/** Shorter strings are faster written here than by a call into the runtime. */
const SHORT = 24;
const REPLACEMENT = 0xfffd;
/** Characters and values that are written in one go. */
const PIECE = 4_096;

export class StructWriter {
  readonly #maxDepth: number;
  readonly #tooDeep: () => Error;
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  /** Where the first written byte is. */
  #at = FIRST_BYTES;

  constructor(maxDepth: number, tooDeep: () => Error) {
    this.#maxDepth = maxDepth;
    this.#tooDeep = tooDeep;
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  /** `depth` counts this object and what is around it. */
  fields(object: JsonObject, depth: number): void {
    if (depth > this.#maxDepth) throw this.#tooDeep();
    const keys = Object.keys(object);
    for (let at = keys.length - 1; at >= 0; at -= 1) {
      const key = keys[at] as string;
      const value = object[key];
      if (value === undefined) continue;
      const end = this.#toEnd;
      this.value(value, depth);
      this.#head(ENTRY_VALUE, end);
      this.#text(ENTRY_KEY, key);
      this.#head(FIELDS, end);
    }
  }

  /** `depth` counts the objects and arrays around the value. */
  value(value: JsonValue, depth: number): void {
    if (typeof value === 'string') this.#text(STRING_VALUE, value);
    else if (typeof value === 'number') this.#number(value);
    else if (typeof value === 'boolean') this.#pair(BOOL_VALUE, value ? 1 : 0);
    else if (value === null) this.#pair(NULL_VALUE, 0);
    else {
      const end = this.#toEnd;
      if (Array.isArray(value)) this.#list(value, depth + 1);
      else this.fields(value, depth + 1);
      this.#head(Array.isArray(value) ? LIST_VALUE : STRUCT_VALUE, end);
    }
  }

  #list(list: readonly JsonValue[], depth: number): void {
    if (depth > this.#maxDepth) throw this.#tooDeep();
    for (let at = list.length - 1; at >= 0; at -= 1) {
      const end = this.#toEnd;
      this.value(list[at] as JsonValue, depth);
      this.#head(LIST_VALUES, end);
    }
  }

  /** Writes what `value` writes; yields after each piece. */
  *large(value: JsonValue, depth: number): Generator<void, void> {
    if (typeof value !== 'object' || value === null || leftAfter(value, PIECE) >= 0) {
      this.value(value, depth);
      yield;
      return;
    }
    if (depth + 1 > this.#maxDepth) throw this.#tooDeep();
    const end = this.#toEnd;
    if (Array.isArray(value)) {
      yield* this.#largeList(value, depth + 1);
      this.#head(LIST_VALUE, end);
    } else {
      yield* this.#largeFields(value, depth + 1);
      this.#head(STRUCT_VALUE, end);
    }
  }

  *#largeFields(object: JsonObject, depth: number): Generator<void, void> {
    const keys = Object.keys(object);
    yield;
    let left = PIECE;
    for (let at = keys.length - 1; at >= 0; at -= 1) {
      const key = keys[at] as string;
      const value = object[key];
      if (value === undefined) continue;
      const end = this.#toEnd;
      left = leftAfter(value, left - key.length);
      if (left >= 0) this.value(value, depth);
      else {
        yield* this.large(value, depth);
        left = PIECE;
      }
      this.#head(ENTRY_VALUE, end);
      this.#text(ENTRY_KEY, key);
      this.#head(FIELDS, end);
    }
  }

  *#largeList(list: readonly JsonValue[], depth: number): Generator<void, void> {
    let left = PIECE;
    for (let at = list.length - 1; at >= 0; at -= 1) {
      const item = list[at] as JsonValue;
      const end = this.#toEnd;
      left = leftAfter(item, left);
      if (left >= 0) this.value(item, depth);
      else {
        yield* this.large(item, depth);
        left = PIECE;
      }
      this.#head(LIST_VALUES, end);
    }
  }

  get #toEnd(): number {
    return this.#bytes.length - this.#at;
  }

  #number(value: number): void {
    this.#reserve(DOUBLE_BYTES + 1);
    this.#at -= DOUBLE_BYTES;
    this.#bytes.writeDoubleLE(value, this.#at);
    this.#at -= 1;
    this.#bytes[this.#at] = NUMBER_VALUE;
  }

  #pair(tag: number, value: number): void {
    this.#reserve(2);
    this.#at -= 2;
    this.#bytes[this.#at] = tag;
    this.#bytes[this.#at + 1] = value;
  }

  #text(tag: number, text: string): void {
    const end = this.#toEnd;
    if (text.length <= SHORT) {
      this.#reserve(SHORT * MOST_PER_CHARACTER);
      this.#short(text);
    } else {
      const length = Buffer.byteLength(text);
      this.#reserve(length);
      this.#at -= length;
      this.#bytes.write(text, this.#at, length, 'utf8');
    }
    this.#head(tag, end);
  }

  /** In UTF-8; half a character is the sign of replacement, as in all texts of the runtime. */
  #short(text: string): void {
    const bytes = this.#bytes;
    let to = this.#at;
    for (let at = text.length - 1; at >= 0; at -= 1) {
      let code = text.charCodeAt(at);
      if (code < 0x80) {
        bytes[(to -= 1)] = code;
        continue;
      }
      if ((code & 0xf800) === 0xd800) {
        const whole = at > 0 ? (text.codePointAt(at - 1) as number) : code;
        if (whole > 0xffff) at -= 1;
        code = whole > 0xffff ? whole : REPLACEMENT;
      }
      const first = code < 0x800 ? 0xc0 : code <= 0xffff ? 0xe0 : 0xf0;
      for (let rest = first; (rest & 0x40) !== 0; rest <<= 1) {
        bytes[(to -= 1)] = 0x80 | (code & 0x3f);
        code >>= 6;
      }
      bytes[(to -= 1)] = first | code;
    }
    this.#at = to;
  }

  /** Of what was written since `end` bytes were there. */
  #head(tag: number, end: number): void {
    let length = this.#toEnd - end;
    this.#reserve(HEAD_BYTES);
    let size = 1;
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) size += 1;
    this.#at -= size + 1;
    let at = this.#at;
    this.#bytes[at] = tag;
    for (at += 1; length > 0x7f; at += 1) {
      this.#bytes[at] = (length & 0x7f) | 0x80;
      length >>>= 7;
    }
    this.#bytes[at] = length;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#at) return;
    const written = this.finish();
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length + bytes);
    this.#at = larger.length - written.length;
    larger.set(written, this.#at);
    this.#bytes = larger;
  }
}
