// The properties that a schema names for one value, also those behind allOf, anyOf, `$ref` and the like.
import { fromPointer } from '../json/json-pointer.ts';

interface Schema {
  readonly [keyword: string]: unknown;
}

const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const SINGLE = ['if', 'then', 'else'] as const;
const MAPS = ['dependentSchemas', 'dependencies'] as const;

/** Keywords whose sub-schemas look at the same value, and so may name properties of it. */
export const IN_PLACE: readonly string[] = [...LISTS, ...SINGLE, ...MAPS, '$ref', 'not'];

/** As many as a schema can have that was found good. */
const MAX_SCHEMAS = 2_000;

/** `root`: the document that references start from. */
export function namedProperties(schema: unknown, root: unknown = schema): ReadonlySet<string> {
  const names = new Set<string>();
  for (const each of inPlaceOf(schema, root))
    if (isSchema(each['properties'])) for (const name of Object.keys(each['properties'])) names.add(name);
  return names;
}

/** Whether some schema for the same value, other than the root, says what members without a name may be. */
export function takesOthers(schema: unknown): boolean {
  return [...inPlaceOf(schema, schema)].some(
    (each) =>
      each !== schema &&
      (each['patternProperties'] !== undefined ||
        (each['additionalProperties'] ?? false) !== false ||
        (each['unevaluatedProperties'] ?? false) !== false),
  );
}

/** The schema itself, and all that look at the same value with it. */
function inPlaceOf(schema: unknown, root: unknown): ReadonlySet<Schema> {
  const seen = new Set<Schema>();
  const waiting: unknown[] = [schema];
  while (waiting.length > 0 && seen.size < MAX_SCHEMAS) {
    const next = waiting.pop();
    if (!isSchema(next) || seen.has(next)) continue;
    seen.add(next);
    waiting.push(...inPlace(next, root));
  }
  return seen;
}

function inPlace(schema: Schema, root: unknown): unknown[] {
  const found: unknown[] = SINGLE.map((keyword) => schema[keyword]);
  const { $ref } = schema;
  if (typeof $ref === 'string' && $ref.startsWith('#')) found.push(schemaAt(root, $ref.slice(1)));
  for (const keyword of LISTS) {
    const list = schema[keyword];
    if (Array.isArray(list)) found.push(...(list as unknown[]));
  }
  for (const keyword of MAPS) {
    const map = schema[keyword];
    if (isSchema(map)) found.push(...Object.values(map));
  }
  return found;
}

/** What stands at a pointer of the document, as a `$ref` writes it; undefined where nothing does. */
export function schemaAt(root: unknown, pointer: string): unknown {
  let current: unknown = root;
  for (const step of fromPointer(decoded(pointer))) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Schema)[step];
  }
  return current;
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
