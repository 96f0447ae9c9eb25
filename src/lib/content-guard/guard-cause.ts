// What is logged of an exception, under the rules of the answer in whose place it stands.
import type { JsonValue } from '../json/json-value.ts';
import { guardJson, JsonRefused } from './guard-json.ts';
import type { RuleSet } from './rules.ts';

/** What the log cuts off lies deeper. */
const MAX_DEPTH = 5;
/** Of one exception, with all that it carries. */
const MAX_VALUES = 1_000;

/**
 * What is to be logged instead of the exception: its own text with masks, as plain JSON, so that nothing gets into the log
 * that was not looked through. Where it does not pass the rules, a note that says so. Yields as it goes.
 */
export function* guardCause(
  cause: unknown,
  rules: RuleSet,
  maxCharacters: number,
): Generator<void, JsonValue> {
  let plain: JsonValue;
  try {
    plain = new Reader().value(cause, 0);
  } catch {
    // Whoever throws may throw what throws again when it is read.
    return leftOut('cannot be read');
  }
  try {
    return (yield* guardJson(plain, rules, maxCharacters)).value;
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    return leftOut(error.message);
  }
}

function leftOut(why: string): string {
  return `[left out: the exception ${why}]`;
}

class Reader {
  #left = MAX_VALUES;

  value(value: unknown, depth: number): JsonValue {
    this.#left -= 1;
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object') return `[${typeof value}]`;
    if (depth === MAX_DEPTH) return '[too deep]';
    if (value instanceof Error) return this.#error(value, depth);
    if (Array.isArray(value)) return this.#items(value, depth);
    if (value instanceof Date) return String(value);
    return ArrayBuffer.isView(value) ? '[bytes]' : Object.fromEntries(this.#members(value, depth));
  }

  /** Its cause and the errors of an AggregateError are no members that a list of members has. */
  #error(error: Error, depth: number): JsonValue {
    const { name, message, stack, cause } = error;
    const members = new Map<string, JsonValue>([['type', this.value(name, depth + 1)]]);
    members.set('message', this.value(message, depth + 1));
    if (stack !== undefined) members.set('stack', this.value(stack, depth + 1));
    if (cause !== undefined) members.set('cause', this.value(cause, depth + 1));
    if (error instanceof AggregateError) members.set('errors', this.value(error.errors, depth + 1));
    for (const [key, member] of this.#members(error, depth)) if (!members.has(key)) members.set(key, member);
    return Object.fromEntries(members);
  }

  #items(items: readonly unknown[], depth: number): JsonValue {
    const read: JsonValue[] = [];
    for (const item of items) {
      if (this.#left <= 0) break;
      read.push(this.value(item, depth + 1));
    }
    return read;
  }

  *#members(value: object, depth: number): Generator<[string, JsonValue]> {
    for (const key of Object.keys(value)) {
      if (this.#left <= 0) return;
      const member = (value as Readonly<Record<string, unknown>>)[key];
      if (member !== undefined) yield [key, this.value(member, depth + 1)];
    }
  }
}
