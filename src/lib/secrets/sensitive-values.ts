// Sensitive values: finds what a JSON Schema marks with `x-ute-sensitive` in a value, and puts something else in its place.
import { atOnce, inSlices } from '../concurrency/in-slices.ts';
import { callScrubber } from './scrub-secrets.ts';
import { Sealed } from '../scrub/sealed.ts';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type JsonMap = { [key: string]: Json };
/** A value whose marked parts are sealed. */
type Hiding = string | number | boolean | null | Sealed | Hiding[] | { [key: string]: Hiding };

const SENSITIVE_KEYWORD = 'x-ute-sensitive';
/** Stands in views for a value that nobody compares. */
export const SENSITIVE_MARK = '[sensitive]';

export interface Hidden<Value> {
  readonly value: Value;
  /** The texts of what was hidden, for finding them elsewhere. */
  readonly secrets: readonly string[];
}

/**
 * `seal` gives the text that stands for a value, which it gets as JSON with sorted keys. What was hidden is also scrubbed
 * from the rest of the value.
 */
export type HideSensitive = <Value extends Json>(
  value: Value,
  seal: (text: string) => string,
) => Promise<Hidden<Value>>;

export function sensitiveHider(schema: JsonMap): HideSensitive {
  if (!marksSensitive(schema)) return async (value) => ({ value, secrets: [] });
  return async <Value extends Json>(value: Value, seal: (text: string) => string) => {
    const walk = new Walk(schema, (text) => new Sealed(seal(text)));
    const sealed = await inSlices(walk.hidden(value, [schema]));
    if (walk.secrets.length === 0) return { value, secrets: [] };
    const scrubber = await callScrubber(walk.secrets);
    return { value: unsealed(await scrubber.jsonInSlices(sealed)) as Value, secrets: walk.secrets };
  };
}

/** True if the schema marks anything at all. */
function marksSensitive(schema: JsonMap): boolean {
  let marks = marking.get(schema);
  if (marks === undefined) {
    marks = JSON.stringify(schema).includes(`"${SENSITIVE_KEYWORD}":true`);
    marking.set(schema, marks);
  }
  return marks;
}

/** Each schema is looked at once. */
const marking = new WeakMap<JsonMap, boolean>();

/** Only what stands in the marked places: where else its text turns up is not looked for. */
export function sealSensitive<Value extends Json>(
  schema: JsonMap,
  value: Value,
  seal: (text: string) => string,
): Hidden<Value> {
  if (!marksSensitive(schema)) return { value, secrets: [] };
  const walk = new Walk(schema, (text) => new Sealed(seal(text)));
  return { value: unsealed(atOnce(walk.hidden(value, [schema]))) as Value, secrets: walk.secrets };
}

/**
 * Every branch of anyOf, oneOf, if and the like is taken to apply, and every pattern of properties, whether it does or
 * not: rather too much is hidden than too little.
 */
class Walk {
  readonly secrets: string[] = [];
  readonly #root: JsonMap;
  readonly #seal: (text: string) => Sealed;

  constructor(root: JsonMap, seal: (text: string) => Sealed) {
    this.#root = root;
    this.#seal = seal;
  }

  *hidden(value: Json, schemas: readonly Json[]): Generator<void, Hiding> {
    yield;
    const applying = this.#expanded(schemas);
    if (applying.some((schema) => schema[SENSITIVE_KEYWORD] === true)) {
      collectTexts(value, this.secrets);
      return this.#seal(sortedText(value));
    }
    if (applying.length === 0 || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items: Hiding[] = [];
      for (const [at, item] of value.entries()) {
        items.push(
          yield* this.hidden(
            item,
            applying.flatMap((each) => ofItem(each, at)),
          ),
        );
      }
      return items;
    }
    const members: [string, Hiding][] = [];
    for (const [key, member] of Object.entries(value)) {
      const own = applying.flatMap((schema) => ofMember(schema, key));
      members.push([key, yield* this.hidden(member, own)]);
    }
    return Object.fromEntries(members);
  }

  /** With all that their references and branches lead to. */
  #expanded(schemas: readonly Json[]): readonly JsonMap[] {
    const found = new Set<JsonMap>();
    const waiting = [...schemas];
    for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
      if (!isMap(schema) || found.has(schema)) continue;
      found.add(schema);
      waiting.push(...branchesOf(schema));
      const target = this.#target(schema['$ref'] ?? schema['$dynamicRef']);
      if (target !== undefined) waiting.push(target);
    }
    return [...found];
  }

  /** `#`, `#/a/b` and `#anchor` of the same document. */
  #target(ref: Json | undefined): Json | undefined {
    if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined;
    if (ref !== '#' && !ref.startsWith('#/')) return findAnchor(this.#root, ref.slice(1), 0);
    let at: Json | undefined = this.#root;
    for (const step of ref.split('/').slice(1)) {
      const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
      at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as JsonMap)[key] : undefined;
    }
    return at;
  }
}

const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const SINGLE = ['if', 'then', 'else'] as const;

function branchesOf(schema: JsonMap): readonly Json[] {
  const lists = LISTS.flatMap((keyword) => listOf(schema[keyword]));
  const single = SINGLE.flatMap((keyword) => schema[keyword] ?? []);
  return [...lists, ...single, ...Object.values(mapOf(schema['dependentSchemas']))];
}

function ofItem(schema: JsonMap, at: number): readonly Json[] {
  const { items } = schema;
  const placed = Array.isArray(items) ? items : listOf(schema['prefixItems']);
  const rest = Array.isArray(items) ? schema['additionalItems'] : items;
  return [placed[at], rest, schema['contains'], schema['unevaluatedItems']].filter(
    (each) => each !== undefined,
  );
}

function ofMember(schema: JsonMap, key: string): readonly Json[] {
  const properties = mapOf(schema['properties']);
  const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
  const patterns = Object.values(mapOf(schema['patternProperties']));
  const others = own === undefined ? [schema['additionalProperties'], schema['unevaluatedProperties']] : [];
  return [own, ...patterns, ...others].filter((each) => each !== undefined);
}

function unsealed(value: Hiding): Json {
  if (value instanceof Sealed) return value.text;
  if (Array.isArray(value)) return value.map(unsealed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unsealed(member)]));
}

function findAnchor(schema: Json, name: string, depth: number): Json | undefined {
  if (typeof schema !== 'object' || schema === null || depth > 64) return undefined;
  if (isMap(schema) && (schema['$anchor'] === name || schema['$dynamicAnchor'] === name)) return schema;
  for (const inner of Object.values(schema)) {
    const found = findAnchor(inner, name, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function collectTexts(value: Json, into: string[]): void {
  if (typeof value === 'string') into.push(value);
  else if (typeof value === 'number') into.push(String(value));
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) collectTexts(inner, into);
}

function sortedText(value: Json): string {
  return JSON.stringify(value, (_key, inner: Json) =>
    isMap(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapOf(value: Json | undefined): JsonMap {
  return isMap(value) ? value : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
