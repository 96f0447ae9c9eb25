// A JSON value under rules: its texts, the names of its members and its numbers, each looked at as text.
import { toPointer } from '../json/json-pointer.ts';
import type { JsonValue } from '../json/json-value.ts';
import { ContentRefused, guardText, type Findings } from './guarded-text.ts';
import type { Rule, RuleSet } from './rules.ts';

/** Characters after which a walk gives way. */
const SLICE = 4_096;
const MAX_DEPTH = 200;
/** A value takes this much besides its text. */
const PER_VALUE = 1;

export interface GuardedJson {
  /** The value itself where nothing was masked. */
  readonly value: JsonValue;
  readonly counts: ReadonlyMap<Rule, number>;
  /** Where a rule asks first. */
  readonly asked?: { readonly rule: string; readonly pointer: string };
}

/** The value does not pass; `pointer` is where, with masks for what was found in the names on the way. */
export class JsonRefused extends Error {
  readonly rule: string | undefined;
  readonly pointer: string;
  readonly counts: ReadonlyMap<Rule, number>;

  constructor(cause: ContentRefused, pointer: string, counts: ReadonlyMap<Rule, number>) {
    super(cause.message);
    this.rule = cause.rule;
    this.pointer = pointer;
    this.counts = counts;
  }
}

/** Throws JsonRefused. Beyond `maxCharacters` nothing is looked at, and nothing passes. Yields as it goes. */
export function* guardJson(
  value: JsonValue,
  rules: RuleSet,
  maxCharacters: number,
): Generator<void, GuardedJson> {
  const walk = new Walk(rules, maxCharacters);
  try {
    const clean = yield* walk.value(value, 0);
    const { counts, asked } = walk;
    return { value: clean, counts, ...(asked !== undefined && { asked }) };
  } catch (error) {
    if (!(error instanceof ContentRefused)) throw error;
    throw new JsonRefused(error, walk.pointer, walk.counts);
  }
}

class Walk implements Findings {
  readonly counts = new Map<Rule, number>();
  asked: { readonly rule: string; readonly pointer: string } | undefined;
  readonly #rules: RuleSet;
  readonly #path: (string | number)[] = [];
  #left: number;
  #sinceTurn = 0;

  constructor(rules: RuleSet, maxCharacters: number) {
    this.#rules = rules;
    this.#left = maxCharacters;
  }

  get pointer(): string {
    return toPointer(this.#path);
  }

  add(rule: Rule, count: number): void {
    this.counts.set(rule, (this.counts.get(rule) ?? 0) + count);
  }

  *value(value: JsonValue, depth: number): Generator<void, JsonValue> {
    if (this.#sinceTurn > SLICE) {
      this.#sinceTurn = 0;
      yield;
    }
    if (typeof value === 'string') return yield* this.#text(value);
    if (typeof value === 'number') return yield* this.#number(value);
    this.#spend(0);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH)
      throw new ContentRefused(`is deeper than ${MAX_DEPTH} levels, and is not looked through`);
    return Array.isArray(value) ? yield* this.#items(value, depth) : yield* this.#members(value, depth);
  }

  *#items(items: readonly JsonValue[], depth: number): Generator<void, JsonValue> {
    let changed: JsonValue[] | undefined;
    for (const [index, item] of items.entries()) {
      this.#path.push(index);
      const clean = yield* this.value(item, depth + 1);
      this.#path.pop();
      if (clean !== item) (changed ??= [...items])[index] = clean;
    }
    return changed ?? (items as JsonValue);
  }

  *#members(members: { readonly [name: string]: JsonValue }, depth: number): Generator<void, JsonValue> {
    const names = Object.keys(members);
    const clean: [string, JsonValue][] = [];
    let free: FreeNames | undefined;
    let isChanged = false;
    for (const name of names) {
      const member = members[name] as JsonValue;
      const shown = yield* this.#name(name);
      const kept = shown === name ? name : (free ??= new FreeNames(names)).next(shown);
      this.#path.push(shown);
      const value = yield* this.value(member, depth + 1);
      this.#path.pop();
      isChanged ||= kept !== name || value !== member;
      clean.push([kept, value]);
    }
    return isChanged ? Object.fromEntries(clean) : members;
  }

  /** The pointer to a name that is refused or asked about must not hold it. */
  *#name(name: string): Generator<void, string> {
    this.#path.push('');
    const asked = this.asked;
    let shown: string;
    try {
      shown = yield* this.#text(name);
    } catch (error) {
      if (error instanceof ContentRefused) this.#path[this.#path.length - 1] = `[${error.rule ?? 'name'}]`;
      throw error;
    }
    if (this.asked !== asked && this.asked !== undefined) {
      this.#path[this.#path.length - 1] = `[${this.asked.rule}]`;
      this.asked = { rule: this.asked.rule, pointer: this.pointer };
    }
    this.#path.pop();
    return shown;
  }

  *#text(text: string): Generator<void, string> {
    this.#spend(text.length);
    const { text: clean, asks } = yield* guardText(text, this.#rules, this);
    const [first] = asks;
    if (first !== undefined) this.asked ??= { rule: first.name, pointer: this.pointer };
    // Masks may be longer than what they stand for.
    if (clean.length > text.length) this.#spend(clean.length - text.length);
    return clean;
  }

  /** A mask is text, and no tool and no schema expects one where a number stands. */
  *#number(value: number): Generator<void, number> {
    const text = String(value);
    const clean = yield* this.#text(text);
    if (clean === text) return value;
    const mask = this.#rules.mask.find((rule) => clean.includes(rule.mask));
    throw new ContentRefused('is a number that would have to be masked', mask?.name);
  }

  #spend(characters: number): void {
    this.#left -= characters + PER_VALUE;
    this.#sinceTurn += characters + PER_VALUE;
    if (this.#left < 0) throw new ContentRefused('holds more than is looked through');
  }
}

/** Two names may have the same mask: the second one is numbered. */
class FreeNames {
  readonly #taken: Set<string>;
  readonly #last = new Map<string, number>();

  constructor(names: readonly string[]) {
    this.#taken = new Set(names);
  }

  next(name: string): string {
    let count = this.#last.get(name) ?? 0;
    let free: string;
    do {
      count += 1;
      free = count === 1 ? name : `${name} ${count}`;
    } while (this.#taken.has(free));
    this.#last.set(name, count);
    this.#taken.add(free);
    return free;
  }
}
