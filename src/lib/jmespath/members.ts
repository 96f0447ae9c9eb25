// The members of an object: asked for once, because for thousands of them that alone takes milliseconds, and paid for each time.
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { Work } from './work.ts';

/** Beyond, the engine keeps members in a table that it has to sort to list them. */
const FEW = 1_000;
const COST_OF_SORTING = 16;

const known = new WeakMap<object, readonly string[]>();

/** Of data that nothing changes any more. */
export function keysOf(object: JsonObject, work: Work): readonly string[] {
  const keys = known.get(object) ?? Object.keys(object);
  if (keys.length > FEW) known.set(object, keys);
  payForMembers(keys.length, work);
  return keys;
}

export function valuesOf(object: JsonObject, work: Work): JsonValue[] {
  return keysOf(object, work).map((key) => object[key] ?? null);
}

export function payForMembers(count: number, work: Work): void {
  work.spend(count > FEW ? count * COST_OF_SORTING : count);
}
