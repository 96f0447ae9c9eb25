// A JSON value cut to fit: whole members and items as long as there is room, long texts by their beginning.
import type { JsonValue } from '../json/json-value.ts';

export interface BoundedJson {
  readonly value: JsonValue;
  readonly isCut: boolean;
}

const MOST_LEVELS = 8;
const MOST_ITEMS = 50;
const LONGEST_NAME = 100;

/** `room`: characters of JSON in all, about; `longest`: characters of one text. */
export function boundedJson(value: JsonValue, room: number, longest: number): BoundedJson {
  const cutter = new Cutter(room, longest);
  const cut = cutter.cut(value, 0) ?? null;
  return { value: cut, isCut: cutter.isCut };
}

class Cutter {
  isCut = false;
  #room: number;
  readonly #longest: number;

  constructor(room: number, longest: number) {
    this.#room = room;
    this.#longest = longest;
  }

  /** Undefined: there is no room. */
  cut(value: JsonValue, depth: number): JsonValue | undefined {
    if (this.#room <= 0 || depth > MOST_LEVELS) return this.#nothing();
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) {
      this.#room -= String(value).length + 1;
      return value;
    }
    this.#room -= 2;
    return Array.isArray(value) ? this.#items(value, depth) : this.#members(value, depth);
  }

  #text(text: string): string {
    const most = Math.max(0, Math.min(this.#longest, this.#room - 2));
    this.#room -= Math.min(text.length, most) + 3;
    if (text.length <= most) return text;
    this.isCut = true;
    return `${text.slice(0, most).toWellFormed()}…`;
  }

  #items(items: readonly JsonValue[], depth: number): JsonValue {
    const kept: JsonValue[] = [];
    for (const item of items) {
      const cut = kept.length < MOST_ITEMS ? this.cut(item, depth + 1) : this.#nothing();
      if (cut === undefined) break;
      kept.push(cut);
    }
    return kept;
  }

  #members(members: { readonly [name: string]: JsonValue }, depth: number): JsonValue {
    const kept: [string, JsonValue][] = [];
    for (const [name, member] of Object.entries(members)) {
      if (name.length > LONGEST_NAME || kept.length >= MOST_ITEMS) {
        this.#nothing();
        continue;
      }
      this.#room -= name.length + 4;
      const cut = this.cut(member, depth + 1);
      if (cut !== undefined) kept.push([name, cut]);
      else if (this.#room <= 0) break;
    }
    return Object.fromEntries(kept);
  }

  #nothing(): undefined {
    this.isCut = true;
    return undefined;
  }
}
