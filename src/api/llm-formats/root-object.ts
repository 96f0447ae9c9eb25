// Root object: providers take tool parameters only as one plain object at the top.
import { isJsonObject, type JsonSchema } from '../../contract/json.ts';
import { noteOf, withNotes } from './description-notes.ts';
import { mergeAllOf, mergeAlternatives } from './merge-schemas.ts';
import { resolveLocal } from '../../contract/local-refs.ts';

/** Refused beside `type: object` at the root, although fine below it. */
const REFUSED_AT_ROOT = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'];

/** The schema as `type: object` with `properties`. Alternatives at the root are folded into the properties. */
export function toRootObject(source: JsonSchema, lossy: string[]): JsonSchema {
  let schema = inlineRootRef(source);
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
  return {
    ...rest,
    type: 'object',
    ...(told === undefined ? {} : { description: told }),
    properties: properties ?? {},
  };
}

function inlineRootRef(schema: JsonSchema): JsonSchema {
  if (schema['$ref'] === undefined) return schema;
  const target = resolveLocal(schema, schema);
  const { $ref: _ref, ...rest } = schema;
  return isJsonObject(target) ? { ...target, ...rest } : rest;
}
