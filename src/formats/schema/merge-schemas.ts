// Merging: writes `allOf`, and alternatives at the root, as one plain schema where that keeps their meaning.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { resolveLocal } from './local-refs.ts';

/** The schema with its `allOf` written out, or undefined where the parts say different things under one keyword. */
export function mergeAllOf(schema: JsonSchema): JsonSchema | undefined {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return undefined;
  let merged: JsonSchema | undefined = rest;
  for (const part of allOf) {
    const flat: JsonValue | undefined =
      isJsonObject(part) && part['allOf'] !== undefined ? mergeAllOf(part) : part;
    if (flat === undefined || !isJsonObject(flat) || merged === undefined) return undefined;
    merged = both(merged, flat);
  }
  return merged;
}

/**
 * The root with the alternatives under `keyword` folded into its properties, or undefined where they are
 * not all objects with properties. A property is required if every alternative requires it; one that an
 * alternative does not name is read as not used by it.
 */
export function mergeAlternatives(root: JsonSchema, keyword: 'anyOf' | 'oneOf'): JsonSchema | undefined {
  const { [keyword]: alternatives, ...rest } = root;
  if (!Array.isArray(alternatives) || alternatives.length === 0) return undefined;
  const variants = alternatives.map((alternative) => resolveLocal(alternative, root));
  if (!variants.every(isPlainObjectSchema)) return undefined;
  const own = propertiesOf(rest);
  const found = new Map<string, JsonValue[]>();
  for (const variant of variants) {
    for (const [name, property] of Object.entries(propertiesOf(variant))) {
      found.set(name, [...(found.get(name) ?? []), property]);
    }
  }
  const folded = [...found].filter(([name]) => !Object.hasOwn(own, name));
  const required = [...found.keys()].filter((name) =>
    variants.every((variant) => requiredOf(variant).includes(name)),
  );
  const isClosed = variants.every((variant) => variant['additionalProperties'] === false);
  return {
    ...rest,
    properties: {
      ...own,
      ...Object.fromEntries(folded.map(([name, schemas]) => [name, eitherOf(schemas)])),
    },
    required: [...new Set([...requiredOf(rest), ...required])],
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

function both(left: JsonSchema, right: JsonSchema): JsonSchema | undefined {
  const merged = new Map<string, JsonValue>(Object.entries(left));
  for (const [keyword, value] of Object.entries(right)) {
    const present = merged.get(keyword);
    const together = present === undefined ? value : sameKeyword(keyword, present, value);
    if (together === undefined) return undefined;
    merged.set(keyword, together);
  }
  return Object.fromEntries(merged);
}

function sameKeyword(keyword: string, left: JsonValue, right: JsonValue): JsonValue | undefined {
  if (isSame(left, right)) return left;
  if (keyword === 'description' || keyword === 'title') return left;
  if (keyword === 'required' && Array.isArray(left) && Array.isArray(right)) {
    return [...new Set([...left, ...right])];
  }
  if ((keyword === 'properties' || keyword === '$defs') && isJsonObject(left) && isJsonObject(right)) {
    const clashes = Object.keys(right).some((n) => Object.hasOwn(left, n) && !isSame(left[n], right[n]));
    return clashes ? undefined : Object.fromEntries([...Object.entries(left), ...Object.entries(right)]);
  }
  return undefined;
}

/** The discriminators of a union become one enum; other differing schemas become an `anyOf`. */
function eitherOf(schemas: readonly JsonValue[]): JsonValue {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [only] = distinct;
  if (only !== undefined && distinct.length === 1) return only;
  const words = distinct.map(wordsOf);
  if (words.every((list) => list !== undefined)) return { type: 'string', enum: [...new Set(words.flat())] };
  return { anyOf: distinct };
}

function wordsOf(schema: JsonValue): readonly string[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  if (!Array.isArray(values)) return undefined;
  const words = values.filter((value) => typeof value === 'string');
  return words.length === values.length ? words : undefined;
}

function isPlainObjectSchema(schema: JsonValue | undefined): schema is JsonObject {
  return (
    isJsonObject(schema) &&
    isJsonObject(schema['properties']) &&
    !('allOf' in schema) &&
    !('patternProperties' in schema)
  );
}

function propertiesOf(schema: JsonSchema): JsonObject {
  return asObject(schema['properties']);
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function requiredOf(schema: JsonSchema): readonly JsonValue[] {
  return Array.isArray(schema['required']) ? schema['required'] : [];
}

function isSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
