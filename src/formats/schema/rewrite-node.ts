// Rewriting: one schema said in the keywords that a provider has, as far as nothing is lost by it.
import { isJsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import type { SchemaRules } from '../provider-rules.ts';
import { mergeAllOf } from './merge-schemas.ts';

export function inItsKeywords(source: JsonSchema, rules: SchemaRules): JsonSchema {
  let schema = source;
  const lacks = (keyword: string) => keyword in schema && !rules.accepts(keyword, schema[keyword] ?? null);
  if (lacks('allOf')) schema = mergeAllOf(schema) ?? schema;
  if (lacks('oneOf') && !('anyOf' in schema)) {
    const { oneOf, ...rest } = schema;
    schema = { ...rest, anyOf: oneOf ?? [] };
  }
  if (lacks('const') && !('enum' in schema)) {
    const { const: only, ...rest } = schema;
    schema = { ...rest, enum: [only ?? null] };
  }
  return rules.listsTextsOnly === true ? withListedTexts(schema) : schema;
}

/** A list of texts says that it is one; null among them is an alternative. */
function withListedTexts(schema: JsonSchema): JsonSchema {
  const { enum: values, type, ...rest } = schema;
  if (!Array.isArray(values)) return schema;
  const texts = values.filter((value) => typeof value === 'string');
  if (texts.length === 0) return schema;
  if (texts.length === values.length) return { ...schema, type: 'string' };
  const others = values.filter((value) => typeof value !== 'string');
  if (!others.every((value) => value === null) || 'anyOf' in schema) return schema;
  const takesNull = type === undefined || [type].flat().includes('null');
  const only = { type: 'string', enum: texts };
  return takesNull ? { ...rest, anyOf: [only, { type: 'null' }] } : { ...rest, ...only };
}

/** Names that are required and not declared. */
export function undeclared({ required, properties }: JsonSchema): JsonValue[] {
  if (!Array.isArray(required)) return [];
  const declared = isJsonObject(properties) ? properties : {};
  return required.filter((name) => typeof name !== 'string' || !Object.hasOwn(declared, name));
}

/** The types of the values of an enum, as `type` says them. */
export function typesOfValues(values: JsonValue): JsonValue {
  const types = [...new Set((Array.isArray(values) ? values : []).map(typeOf))];
  const [only] = types;
  return only !== undefined && types.length === 1 ? only : types;
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
