// The functions of JMESPath. Types are checked, own properties alone are read, and everything made is paid for.
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { keysOf, payForMembers, valuesOf } from './members.ts';
import { toNumber } from './to-number.ts';
import { charactersOf, containsText, reversedText } from './texts.ts';
import { ExpressionError, type Work } from './work.ts';

/** `&expression`: evaluated by the function, once per item. */
export type Reference = (item: JsonValue, work: Work) => JsonValue;
type Kind = 'number' | 'string' | 'boolean' | 'array' | 'object' | 'null' | 'expression';
type Argument = JsonValue | Reference;
type Body = (args: Argument[], work: Work) => JsonValue;

export interface JmesFunction {
  /** Kinds allowed per parameter; empty: any value. */
  readonly parameters: readonly (readonly Kind[])[];
  /** The last parameter may be given any number of times, but at least once. */
  readonly variadic?: true;
  readonly body: Body;
}

const ANY: readonly Kind[] = [];
const LIST: readonly Kind[] = ['array'];
const TEXT: readonly Kind[] = ['string'];
const NUMBER: readonly Kind[] = ['number'];
const OBJECT: readonly Kind[] = ['object'];
const KEY: readonly Kind[] = ['expression'];

export const FUNCTIONS: ReadonlyMap<string, JmesFunction> = new Map(
  Object.entries<JmesFunction>({
    abs: { parameters: [NUMBER], body: ([n]) => Math.abs(n as number) },
    avg: { parameters: [LIST], body: ([list], work) => average(numbers(list, work)) },
    ceil: { parameters: [NUMBER], body: ([n]) => Math.ceil(n as number) },
    contains: {
      parameters: [['string', 'array'], ANY],
      body: ([where, what], work) => contains(where, what, work),
    },
    ends_with: { parameters: [TEXT, TEXT], body: ([text, end]) => (text as string).endsWith(end as string) },
    floor: { parameters: [NUMBER], body: ([n]) => Math.floor(n as number) },
    join: {
      parameters: [TEXT, LIST],
      body: ([glue, list], work) => join(glue as string, texts(list, work), work),
    },
    keys: { parameters: [OBJECT], body: ([object], work) => [...keysOf(object as JsonObject, work)] },
    length: {
      parameters: [['string', 'array', 'object']],
      body: ([value], work) => lengthOf(value as JsonValue, work),
    },
    map: { parameters: [KEY, LIST], body: ([key, list], work) => mapped(list, key, work) },
    max: { parameters: [LIST], body: ([list], work) => extreme(comparable(list, work), 1) },
    max_by: { parameters: [LIST, KEY], body: ([list, key], work) => extremeBy(list, key, 1, work) },
    merge: {
      parameters: [OBJECT],
      variadic: true,
      body: (objects, work) => merge(objects as JsonObject[], work),
    },
    min: { parameters: [LIST], body: ([list], work) => extreme(comparable(list, work), -1) },
    min_by: { parameters: [LIST, KEY], body: ([list, key], work) => extremeBy(list, key, -1, work) },
    not_null: {
      parameters: [ANY],
      variadic: true,
      body: (values) => (values as JsonValue[]).find((value) => value !== null) ?? null,
    },
    reverse: {
      parameters: [['string', 'array']],
      body: ([value], work) => reversed(value as string | JsonValue[], work),
    },
    sort: { parameters: [LIST], body: ([list], work) => sorted(comparable(list, work), work) },
    sort_by: { parameters: [LIST, KEY], body: ([list, key], work) => sortedBy(list, key, work) },
    starts_with: {
      parameters: [TEXT, TEXT],
      body: ([text, start]) => (text as string).startsWith(start as string),
    },
    sum: { parameters: [LIST], body: ([list], work) => total(numbers(list, work)) },
    to_array: { parameters: [ANY], body: ([value]) => (Array.isArray(value) ? value : [value as JsonValue]) },
    to_number: { parameters: [ANY], body: ([value]) => toNumber(value as JsonValue) },
    to_string: { parameters: [ANY], body: ([value], work) => toText(value as JsonValue, work) },
    type: { parameters: [ANY], body: ([value]) => kindOf(value as JsonValue) },
    values: { parameters: [OBJECT], body: ([object], work) => valuesOf(object as JsonObject, work) },
  }),
);

/** Its arguments are gathered and looked at: as dear as so many nodes that are visited. */
const COST_OF_CALL = 16;

/** Throws ExpressionError where an argument is of a kind that the function does not take. */
export function callFunction(
  name: string,
  { parameters, body }: JmesFunction,
  args: Argument[],
  work: Work,
): JsonValue {
  work.spend(COST_OF_CALL);
  for (const [index, value] of args.entries()) {
    const allowed = parameters[index] ?? parameters.at(-1) ?? ANY;
    const kind = kindOf(value);
    const fits = allowed.length === 0 ? kind !== 'expression' : allowed.includes(kind);
    if (!fits) {
      const expected = allowed.length === 0 ? 'a value' : allowed.join(' or ');
      throw new ExpressionError(`${name}() expected ${expected} as argument ${index + 1}, found ${kind}`);
    }
    // Everything a function does with an argument is at most a few passes over it.
    if (Array.isArray(value)) work.spend(value.length);
    else if (typeof value === 'string') work.spendText(value.length);
  }
  return body(args, work);
}

function kindOf(value: Argument): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'function') return 'expression';
  return typeof value as 'number' | 'string' | 'boolean' | 'object';
}

export function deepEqual(a: JsonValue, b: JsonValue, work: Work): boolean {
  work.spend(1);
  if (typeof a === 'string' && typeof b === 'string' && a.length === b.length) work.spendText(a.length);
  if (a === b) return true;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => deepEqual(item, b[index] ?? null, work));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = keysOf(a, work);
  if (keys.length !== keysOf(b, work).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key] ?? null, b[key] ?? null, work));
}

type Comparable = readonly number[] | readonly string[];

function numbers(list: Argument | undefined, work: Work): readonly number[] {
  return allOf(list, 'number', work) as readonly number[];
}

function texts(list: Argument | undefined, work: Work): readonly string[] {
  return allOf(list, 'string', work) as readonly string[];
}

/** Numbers alone or strings alone: other values have no order. */
function comparable(list: Argument | undefined, work: Work): Comparable {
  const first = (list as JsonValue[])[0];
  return allOf(list, typeof first === 'string' ? 'string' : 'number', work) as Comparable;
}

function allOf(list: Argument | undefined, kind: 'number' | 'string', work: Work): readonly JsonValue[] {
  const items = list as readonly JsonValue[];
  work.spend(items.length);
  const stray = items.find((item) => typeof item !== kind);
  if (stray !== undefined)
    throw new ExpressionError(`expected a list of ${kind}s, found ${kindOf(stray)} in it`);
  // Read at least once each: compared, or joined.
  if (kind === 'string') for (const item of items) work.spendText((item as string).length);
  return items;
}

function total(list: readonly number[]): number {
  return list.reduce((sum, n) => sum + n, 0);
}

function average(list: readonly number[]): number | null {
  return list.length === 0 ? null : total(list) / list.length;
}

function contains(where: Argument | undefined, what: Argument | undefined, work: Work): boolean {
  if (typeof where === 'string') return typeof what === 'string' && containsText(where, what, work);
  return (where as JsonValue[]).some((item) => deepEqual(item, what as JsonValue, work));
}

function join(glue: string, parts: readonly string[], work: Work): string {
  work.spendText(parts.reduce((length, part) => length + part.length + glue.length, 0));
  return parts.join(glue);
}

function lengthOf(value: JsonValue, work: Work): number {
  if (typeof value === 'string') return charactersOf(value, work);
  return Array.isArray(value) ? value.length : keysOf(value as JsonObject, work).length;
}

function mapped(list: Argument | undefined, key: Argument | undefined, work: Work): JsonValue[] {
  return (list as JsonValue[]).map((item) => (key as Reference)(item, work));
}

function merge(objects: readonly JsonObject[], work: Work): JsonObject {
  const merged = new Map<string, JsonValue>();
  for (const object of objects) for (const key of keysOf(object, work)) merged.set(key, object[key] ?? null);
  payForMembers(merged.size, work);
  return Object.fromEntries(merged);
}

function reversed(value: string | JsonValue[], work: Work): JsonValue {
  return typeof value === 'string' ? reversedText(value, work) : value.toReversed();
}

/** `sign` 1 for the greatest, -1 for the least. */
function extreme(list: Comparable, sign: 1 | -1): JsonValue {
  let found: number | string | undefined;
  for (const item of list) if (found === undefined || compare(item, found) * sign > 0) found = item;
  return found ?? null;
}

function extremeBy(
  list: Argument | undefined,
  key: Argument | undefined,
  sign: 1 | -1,
  work: Work,
): JsonValue {
  const items = list as readonly JsonValue[];
  const keys = comparable(mapped(list, key, work), work);
  let best = 0;
  for (const [index, value] of keys.entries())
    if (compare(value, keys[best] ?? value) * sign > 0) best = index;
  return items[best] ?? null;
}

function sorted(list: Comparable, work: Work): JsonValue[] {
  payForSort(list, work);
  return [...list].toSorted(compare);
}

function sortedBy(list: Argument | undefined, key: Argument | undefined, work: Work): JsonValue[] {
  const items = list as readonly JsonValue[];
  const keys = comparable(mapped(list, key, work), work);
  payForSort(keys, work);
  const order = [...keys.keys()].toSorted((a, b) => compare(keys[a] ?? 0, keys[b] ?? 0));
  return order.map((index) => items[index] ?? null);
}

/** Each is compared some times, and two texts as far as they are alike. */
function payForSort(list: Comparable, work: Work): void {
  const times = Math.ceil(Math.log2(list.length + 1));
  work.spend(list.length * times);
  for (const item of list) if (typeof item === 'string') work.spend((item.length * times) / 16);
}

function compare(a: number | string, b: number | string): number {
  if (a === b) return 0;
  return a > b ? 1 : -1;
}

function toText(value: JsonValue, work: Work): string {
  if (typeof value === 'string') return value;
  work.spendWhole(value);
  return JSON.stringify(value);
}
