// What is different between two JSON values, place by place: for a human who decides about it.
import { childPointer } from './json-pointer.ts';
import type { JsonValue } from './json-value.ts';

export interface JsonChange {
  /** RFC 6901. */
  readonly pointer: string;
  /** Absent: it was not there. */
  readonly before?: JsonValue;
  /** Absent: it is not there any more. */
  readonly after?: JsonValue;
}

/** At most `most` of them. Keys in no order: equal members in another order are no change. */
export function jsonChanges(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  most = 200,
): readonly JsonChange[] {
  const changes: JsonChange[] = [];
  compare(before, after, '', changes, most);
  return changes;
}

function compare(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  pointer: string,
  changes: JsonChange[],
  most: number,
): void {
  if (changes.length >= most || Object.is(before, after)) return;
  if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const key of keys)
      compare(memberOf(before, key), memberOf(after, key), childPointer(pointer, key), changes, most);
    return;
  }
  changes.push({ pointer, ...(before !== undefined && { before }), ...(after !== undefined && { after }) });
}

type Container = JsonValue[] | { [key: string]: JsonValue };

function isContainer(value: JsonValue | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

function memberOf(value: Container, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? (value as { [key: string]: JsonValue })[key] : undefined;
}
