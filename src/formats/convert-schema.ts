// Conversion: writes a schema in a provider's dialect. What has to go is dropped, listed, and told in the description.
import { isJsonObject, type JsonSchema, type JsonValue } from '../contract/json.ts';
import { isWorthTelling, noteOf, withNotes } from './description-notes.ts';
import { localDefinition } from '../contract/tool/local-refs.ts';
import { mergeAllOf } from './merge-schemas.ts';
import { childPointer } from '../lib/json/json-pointer.ts';
import type { SchemaDialect } from './schema-dialects.ts';

const HOLDS_ONE = new Set(
  (
    'additionalProperties items not if then else contains propertyNames ' +
    'unevaluatedItems unevaluatedProperties contentSchema'
  ).split(' '),
);
const HOLDS_LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const HOLDS_MAP = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords that may name further properties: without them an object must be taken as open. */
const MAY_NAME_PROPERTIES = ['allOf', 'anyOf', 'oneOf', 'then', 'else', 'dependentSchemas', '$ref'];

interface Conversion {
  readonly dialect: SchemaDialect;
  /** JSON pointers of what was dropped. */
  readonly lossy: string[];
}

/** Only ever widens: a value that is valid for `schema` is valid for what comes out. */
export function convertSchema(schema: JsonSchema, dialect: SchemaDialect, lossy: string[]): JsonSchema {
  const converted = convert(schema, '', { dialect, lossy });
  return isJsonObject(converted) ? converted : {};
}

function convert(source: JsonValue, pointer: string, conversion: Conversion): JsonValue {
  const { dialect, lossy } = conversion;
  if (!isJsonObject(source)) {
    if (!dialect.isSubset) return source;
    if (source === false) lossy.push(pointer);
    return {};
  }
  const schema = rewrite(source, dialect);
  const kept: [string, JsonValue][] = [];
  const dropped = new Map<string, JsonValue>();
  for (const [keyword, value] of Object.entries(schema)) {
    const at = childPointer(pointer, keyword);
    if (isAccepted(keyword, value, schema, dialect)) {
      kept.push([keyword, convertValue(keyword, value, at, conversion)]);
    } else if (isWorthTelling(keyword)) {
      dropped.set(keyword, value);
      lossy.push(at);
    }
  }
  const notes = [...dropped].map(([keyword, value]) => noteOf(keyword, value));
  const description = withNotes(schema['description'], notes);
  const result = widened(Object.fromEntries(kept), dropped);
  return wrapRef(description === undefined ? result : { ...result, description }, dialect);
}

function isAccepted(keyword: string, value: JsonValue, schema: JsonSchema, dialect: SchemaDialect): boolean {
  if (keyword === '$schema') return false;
  if (keyword === '$ref' && dialect.isSubset) {
    return (value === '#' || localDefinition(value) !== undefined) && !('anyOf' in schema);
  }
  return dialect.accepts(keyword, value);
}

/** The same schema in keywords the dialect has: nothing is lost here. */
function rewrite(source: JsonSchema, dialect: SchemaDialect): JsonSchema {
  let schema = withModernTuple(source);
  const lacks = (keyword: string) => keyword in schema && !dialect.accepts(keyword, schema[keyword] ?? null);
  if (lacks('allOf')) schema = mergeAllOf(schema) ?? schema;
  if (lacks('definitions')) {
    const { definitions, ...rest } = schema;
    schema = { ...rest, $defs: { ...asObject(definitions), ...asObject(rest['$defs']) } };
  }
  if (lacks('oneOf') && !('anyOf' in schema)) {
    const { oneOf, ...rest } = schema;
    schema = { ...rest, anyOf: oneOf ?? [] };
  }
  if (lacks('const') && !('enum' in schema)) {
    const { const: only, ...rest } = schema;
    schema = { ...rest, enum: [only ?? null] };
  }
  const name = localDefinition(schema['$ref']);
  return dialect.isSubset && name !== undefined ? { ...schema, $ref: childPointer('#/$defs', name) } : schema;
}

/** Draft-07 wrote a tuple as a list under `items`. */
function withModernTuple(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema['items'])) return schema;
  const { items, additionalItems, ...rest } = schema;
  return {
    ...rest,
    prefixItems: items,
    ...(additionalItems === undefined ? {} : { items: additionalItems }),
  };
}

function convertValue(keyword: string, value: JsonValue, pointer: string, conversion: Conversion): JsonValue {
  if (keyword === 'additionalProperties' && typeof value === 'boolean') return value;
  if (HOLDS_ONE.has(keyword)) return convert(value, pointer, conversion);
  if (HOLDS_LIST.has(keyword) && Array.isArray(value)) {
    return value.map((part, index) => convert(part, `${pointer}/${index}`, conversion));
  }
  if (HOLDS_MAP.has(keyword) && isJsonObject(value)) {
    const parts = Object.entries(value);
    return Object.fromEntries(
      parts.map(([name, part]) => [name, convert(part, childPointer(pointer, name), conversion)]),
    );
  }
  return value;
}

/** Loosens what would say too much now that a keyword it depended on is gone. */
function widened(schema: JsonSchema, dropped: ReadonlyMap<string, JsonValue>): JsonSchema {
  const { items, ...others } = schema;
  const result: JsonSchema = dropped.has('prefixItems') || items === undefined ? others : schema;
  const isObject = 'properties' in result || result['type'] === 'object';
  const mayNameMore = isObject && MAY_NAME_PROPERTIES.some((keyword) => dropped.has(keyword));
  const mustOpen =
    dropped.has('patternProperties') || (mayNameMore && result['additionalProperties'] === undefined);
  return mustOpen ? { ...result, additionalProperties: true } : result;
}

function wrapRef(schema: JsonSchema, dialect: SchemaDialect): JsonSchema {
  const { $ref, ...others } = schema;
  if (!dialect.isSubset || $ref === undefined || Object.keys(others).length === 0) return schema;
  return { ...others, anyOf: [{ $ref }] };
}

function asObject(value: JsonValue | undefined): { [key: string]: JsonValue } {
  return isJsonObject(value) ? value : {};
}
