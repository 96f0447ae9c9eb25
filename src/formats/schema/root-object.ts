// Root object: providers take tool parameters only as one plain object at the top.
import { isJsonObject, type JsonSchema } from '../../contract/json.ts';
import { namedProperties, takesOthers } from '../../lib/json-schema/named-properties.ts';
import { noteOf, withNotes } from './description-notes.ts';
import { resolveLocal } from './local-refs.ts';
import { mergeAllOf, mergeAlternatives } from './merge-schemas.ts';

/** Refused beside `type: object` at the root, although fine below it. */
const REFUSED_AT_ROOT = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'];

/** The schema as `type: object` with `properties`. Alternatives at the root are folded into the properties. */
export function toRootObject(source: JsonSchema, lossy: string[]): JsonSchema {
  let schema = inlineRefs(source, source);
  if ('allOf' in schema) schema = mergeAllOf(schema) ?? schema;
  const notes: string[] = [];
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    if (!(keyword in schema)) continue;
    const merged = mergeAlternatives(schema, keyword);
    if (merged === undefined) continue;
    schema = merged;
    lossy.push(`/${keyword}`);
    notes.push('the arguments take one of several forms');
  }
  for (const keyword of REFUSED_AT_ROOT) {
    const { [keyword]: value, ...rest } = schema;
    if (value === undefined) continue;
    schema = rest;
    lossy.push(`/${keyword}`);
    notes.push(noteOf(keyword, value));
  }
  const { $schema: _dialect, description, properties, ...rest } = schema;
  const told = withNotes(description, notes);
  const object: JsonSchema = {
    ...rest,
    type: 'object',
    ...(told === undefined ? {} : { description: told }),
    properties: properties ?? {},
  };
  return source['unevaluatedProperties'] === false ? closedLike(source, object) : object;
}

/** How deep references to references are followed. */
const MAX_NESTING = 8;

/** The references at the root, and in its allOf, as parts of one allOf. */
function inlineRefs(schema: JsonSchema, root: JsonSchema, nesting = 0): JsonSchema {
  const { $ref, allOf, ...rest } = schema;
  if (nesting > MAX_NESTING || ($ref === undefined && !Array.isArray(allOf))) return schema;
  const target = $ref === undefined ? undefined : resolveLocal({ $ref }, root);
  const written = Array.isArray(allOf) ? allOf : [];
  const parts = (isJsonObject(target) ? [target, ...written] : written).map((part) =>
    isJsonObject(part) ? inlineRefs(part, root, nesting + 1) : part,
  );
  return parts.length === 0 ? rest : { ...rest, allOf: parts };
}

/**
 * A root that takes nothing but what it and its parts name: in the plain keyword, which every provider knows, where
 * all those names are in one list now; open where some are not.
 */
function closedLike(source: JsonSchema, object: JsonSchema): JsonSchema {
  const { properties, unevaluatedProperties: _closed, ...rest } = object;
  const named = isJsonObject(properties) ? properties : {};
  const isWhole = [...namedProperties(source)].every((name) => Object.hasOwn(named, name));
  if (isWhole && !takesOthers(source)) return { ...rest, properties: named, additionalProperties: false };
  const says = ['if', 'then', 'else', 'dependentSchemas'].some((keyword) => keyword in object);
  return says ? object : { ...rest, properties: named, additionalProperties: true };
}
