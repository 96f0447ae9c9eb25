// Strict schemas: every object closed, and for OpenAI every property required, absence being said with null.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../contract/json.ts';

/** OpenAI's published limits for one strict schema. */
const MAX_PROPERTIES = 5000;
const MAX_DEPTH = 10;
const MAX_ENUM_VALUES = 1000;
const MAX_NAME_CHARACTERS = 120_000;

/** False where closing the objects would forbid what the tool accepts, or a part has no type to hold on to. */
export function canBeStrict(root: JsonSchema): boolean {
  return isStrictable(root, true) && isWithinLimits(root);
}

/** The schema with all objects closed. `nullForAbsent` makes every property required and the optional ones nullable. */
export function makeStrict(schema: JsonSchema, nullForAbsent: boolean): JsonSchema {
  const close = (part: JsonValue) => (isJsonObject(part) ? makeStrict(part, nullForAbsent) : part);
  const types = typesOf(schema);
  const strict: JsonObject = { ...schema };
  if (schema['type'] === undefined && types[0] !== undefined && schema['anyOf'] === undefined) {
    strict['type'] = types.length === 1 ? types[0] : [...types];
  }
  if (isJsonObject(schema['$defs'])) strict['$defs'] = mapValues(schema['$defs'], close);
  if (Array.isArray(schema['anyOf'])) strict['anyOf'] = schema['anyOf'].map(close);
  if (schema['items'] !== undefined) strict['items'] = close(schema['items']);
  if (!types.includes('object')) return strict;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  strict['properties'] = mapValues(properties, (part, name) =>
    nullForAbsent && !required.includes(name) ? nullable(close(part)) : close(part),
  );
  strict['required'] = nullForAbsent ? Object.keys(properties) : required;
  strict['additionalProperties'] = false;
  return strict;
}

function isStrictable(schema: JsonValue | undefined, isRoot = false): boolean {
  if (!isJsonObject(schema)) return false;
  const definitions = isJsonObject(schema['$defs']) ? Object.values(schema['$defs']) : [];
  if (!definitions.every((part) => isStrictable(part))) return false;
  if (schema['$ref'] !== undefined) return true;
  const types = typesOf(schema);
  if (Array.isArray(schema['anyOf'])) {
    return !types.includes('object') && schema['anyOf'].every((part) => isStrictable(part));
  }
  if (types.length === 0) return false;
  if (types.includes('array') && !isStrictable(schema['items'])) return false;
  if (!types.includes('object')) return true;
  const { properties, additionalProperties } = schema;
  if (additionalProperties === true || isJsonObject(additionalProperties)) return false;
  if (!isJsonObject(properties)) return isRoot || additionalProperties === false;
  return Object.values(properties).every((part) => isStrictable(part));
}

/** The types a schema names, or those its other keywords can only mean. */
function typesOf(schema: JsonSchema): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((word) => typeof word === 'string');
  if (schema['properties'] !== undefined) return ['object'];
  if (schema['items'] !== undefined) return ['array'];
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  return Array.isArray(values) ? [...new Set(values.map(typeOfValue))] : [];
}

function typeOfValue(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function nullable(part: JsonValue): JsonValue {
  if (!isJsonObject(part)) return part;
  const { const: only, ...schema } = part;
  if (Array.isArray(schema['anyOf']))
    return { ...schema, anyOf: withNull(schema['anyOf'], { type: 'null' }) };
  if (schema['$ref'] !== undefined) return { anyOf: [schema, { type: 'null' }] };
  const values = only === undefined ? schema['enum'] : [only];
  return {
    ...schema,
    type: withNull([...typesOf(part)], 'null'),
    ...(Array.isArray(values) ? { enum: withNull(values, null) } : {}),
  };
}

function withNull(list: readonly JsonValue[], nothing: JsonValue): JsonValue[] {
  const text = JSON.stringify(nothing);
  return list.some((entry) => JSON.stringify(entry) === text) ? [...list] : [...list, nothing];
}

function isWithinLimits(root: JsonSchema): boolean {
  const count = { properties: 0, enumValues: 0, characters: 0, depth: 0 };
  const visit = (schema: JsonValue | undefined, depth: number): void => {
    if (!isJsonObject(schema)) return;
    count.depth = Math.max(count.depth, depth);
    if (Array.isArray(schema['enum'])) {
      count.enumValues += schema['enum'].length;
      count.characters += JSON.stringify(schema['enum']).length;
    }
    for (const keyword of ['properties', '$defs'] as const) {
      for (const [name, part] of Object.entries(isJsonObject(schema[keyword]) ? schema[keyword] : {})) {
        count.characters += name.length;
        if (keyword === 'properties') count.properties += 1;
        visit(part, keyword === 'properties' ? depth + 1 : depth);
      }
    }
    visit(schema['items'], depth + 1);
    if (Array.isArray(schema['anyOf'])) for (const part of schema['anyOf']) visit(part, depth);
  };
  visit(root, 0);
  return (
    count.properties <= MAX_PROPERTIES &&
    count.enumValues <= MAX_ENUM_VALUES &&
    count.characters <= MAX_NAME_CHARACTERS &&
    count.depth <= MAX_DEPTH
  );
}

function mapValues(map: JsonObject, change: (part: JsonValue, name: string) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, part]) => [name, change(part, name)]));
}
