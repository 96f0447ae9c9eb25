// JSON text of a value of any size, written piece by piece: what JSON.stringify would have given, in time that others can share.
import { inSlices } from '../concurrency/in-slices.ts';
import type { JsonValue } from '../json/json-value.ts';

/** Characters and values that are written in one go. */
const PIECE = 4_096;
/** A string is cut so, and never between the halves of a character. */
const STRING_PIECE = 16_384;

/** What is smaller is written in one go: that takes a few milliseconds at most. */
const LARGE = 32_768;

export function isLargeJson(value: JsonValue): boolean {
  return leftAfter(value, LARGE) < 0;
}

/** JSON.stringify for what came out of a JSON parser: what is large is written in slices. */
export async function stringifyInSlices(value: JsonValue): Promise<string> {
  return isLargeJson(value) ? inSlices(writeLargeJson(value)) : JSON.stringify(value);
}

/** Only for what came out of a JSON parser. Yields after each piece. */
export function* writeLargeJson(value: JsonValue): Generator<void, string> {
  const parts: string[] = [];
  yield* writeLarge(value, parts);
  return parts.join('');
}

function* write(value: JsonValue, parts: string[]): Generator<void, void> {
  if (leftAfter(value, PIECE) < 0) yield* writeLarge(value, parts);
  else parts.push(JSON.stringify(value));
  yield;
}

function* writeLarge(value: JsonValue, parts: string[]): Generator<void, void> {
  if (typeof value === 'string') yield* writeString(value, parts);
  else if (Array.isArray(value)) yield* writeItems(value, parts);
  else if (typeof value === 'object' && value !== null) yield* writeMembers(value, parts);
  else parts.push(JSON.stringify(value));
}

function* writeItems(items: readonly JsonValue[], parts: string[]): Generator<void, void> {
  parts.push('[');
  for (let from = 0; from < items.length;) {
    const to = endOfSmall(items, from);
    if (from > 0) parts.push(',');
    if (to > from) {
      parts.push(JSON.stringify(items.slice(from, to)).slice(1, -1));
      from = to;
      yield;
    } else {
      yield* write(items[from] as JsonValue, parts);
      from += 1;
    }
  }
  parts.push(']');
}

/** Items that are small together. */
function endOfSmall(items: readonly JsonValue[], from: number): number {
  let left = PIECE;
  let to = from;
  for (; to < items.length; to += 1) {
    left = leftAfter(items[to] as JsonValue, left);
    if (left < 0) break;
  }
  return to;
}

function* writeMembers(
  members: { readonly [name: string]: JsonValue },
  parts: string[],
): Generator<void, void> {
  let separator = '';
  let left = PIECE;
  const names = Object.keys(members);
  parts.push('{');
  yield;
  for (const name of names) {
    const value = members[name] as JsonValue;
    parts.push(separator);
    if (name.length < PIECE) parts.push(JSON.stringify(name));
    else yield* writeString(name, parts);
    parts.push(':');
    left = leftAfter(value, left - name.length);
    if (left >= 0) parts.push(JSON.stringify(value));
    else {
      yield* write(value, parts);
      left = PIECE;
    }
    separator = ',';
  }
  parts.push('}');
}

function* writeString(text: string, parts: string[]): Generator<void, void> {
  parts.push('"');
  for (let from = 0; from < text.length; yield) {
    let to = from + STRING_PIECE;
    if (isSecondHalf(text.charCodeAt(to))) to += 1;
    parts.push(JSON.stringify(text.slice(from, to)).slice(1, -1));
    from = to;
  }
  parts.push('"');
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/**
 * What is left of `left` characters and values after all of this value was counted; below zero as soon as it is not enough. `weight`: as
 * how many characters a value counts.
 */
export function leftAfter(value: JsonValue, left: number, weight = 1): number {
  if (typeof value === 'string') return left - value.length - weight;
  if (typeof value !== 'object' || value === null) return left - weight;
  let rest = left - weight;
  if (Array.isArray(value)) {
    if (value.length * weight > rest) return -1;
    for (const item of value) if (rest >= 0) rest = leftAfter(item, rest, weight);
    return rest;
  }
  // Listing the names is what takes longest where they are many: once, and no walk over the members then.
  const names = Object.keys(value);
  if (names.length * weight > rest) return -1;
  for (const name of names) {
    if (rest < 0) break;
    rest = leftAfter(value[name] as JsonValue, rest - name.length, weight);
  }
  return rest;
}
