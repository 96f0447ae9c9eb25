// Strict schemas: every object closed, and for OpenAI every property required, absence being said with null.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import type { StrictCost, StrictLimits, StrictRules } from '../provider-rules.ts';
import { cycles, definitionsOf } from './definitions.ts';

/** False where closing the objects would forbid what the tool accepts, or a part has no type to hold on to. */
export function canBeStrict(root: JsonSchema, rules: StrictRules): boolean {
  if (!isStrictable(root, true) || !isWithinLimits(root, rules.most)) return false;
  return rules.takesCycles || cycles(root).size === 0;
}

/** The schema with all objects closed. */
export function makeStrict(source: JsonSchema, rules: StrictRules): JsonSchema {
  const close = (part: JsonValue) => (isJsonObject(part) ? makeStrict(part, rules) : part);
  const types = typesOf(source);
  const schema = withoutForeign(source, types);
  const strict: JsonObject = { ...schema };
  if (schema['type'] === undefined && types[0] !== undefined && schema['anyOf'] === undefined) {
    strict['type'] = oneOrMore(types);
  }
  if (isJsonObject(schema['$defs'])) strict['$defs'] = mapValues(schema['$defs'], close);
  if (Array.isArray(schema['anyOf'])) strict['anyOf'] = schema['anyOf'].map(close);
  if (schema['items'] !== undefined) strict['items'] = close(schema['items']);
  if (types.includes('object')) {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    strict['properties'] = mapValues(properties, (part, name) =>
      rules.requiresAll && !required.includes(name) ? nullable(close(part)) : close(part),
    );
    strict['required'] = rules.requiresAll ? Object.keys(properties) : required;
    strict['additionalProperties'] = false;
  }
  return rules.oneType ? withOneType(strict) : strict;
}

/** Keywords that speak of values of one type. */
const OF_TYPE = new Map<JsonValue, readonly string[]>([
  ['object', ['properties', 'required', 'additionalProperties']],
  ['array', ['items', 'minItems', 'maxItems']],
  ['string', ['format', 'pattern']],
]);

/** Keywords of a type that its values cannot have say nothing, and a provider may refuse them. */
function withoutForeign(schema: JsonSchema, types: readonly JsonValue[]): JsonObject {
  if (schema['type'] === undefined) return { ...schema };
  const foreign = [...OF_TYPE].flatMap(([type, keywords]) => (types.includes(type) ? [] : keywords));
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !foreign.includes(keyword)));
}

/** Several types are alternatives, where one of them has keywords of its own. */
function withOneType(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  if (!Array.isArray(type) || 'enum' in schema) return schema;
  const owned = [...OF_TYPE.values()].flat().filter((keyword) => keyword in rest);
  if (owned.length === 0) return schema;
  const shared = Object.entries(rest).filter(([keyword]) => !owned.includes(keyword));
  const alternatives = type.map((word) => {
    const own = (OF_TYPE.get(word) ?? []).filter((keyword) => keyword in rest);
    return { type: word, ...Object.fromEntries(own.map((keyword) => [keyword, rest[keyword] ?? null])) };
  });
  return { ...Object.fromEntries(shared), anyOf: alternatives };
}

/** What a strict schema adds to a request. */
export function strictCostOf(root: JsonSchema): StrictCost {
  let optionalProperties = 0;
  let unions = 0;
  const visit = (schema: JsonValue | undefined): void => {
    if (!isJsonObject(schema)) return;
    if (Array.isArray(schema['type']) || Array.isArray(schema['anyOf'])) unions += 1;
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    optionalProperties += Object.keys(properties).filter((name) => !required.includes(name)).length;
    for (const part of [...Object.values(properties), ...Object.values(definitionsOf(schema))]) visit(part);
    visit(schema['items']);
    if (Array.isArray(schema['anyOf'])) for (const part of schema['anyOf']) visit(part);
  };
  visit(root);
  return { tools: 1, optionalProperties, unions };
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
    type: oneOrMore(withNull([...typesOf(part)], 'null')),
    ...(Array.isArray(values) ? { enum: withNull(values, null) } : {}),
  };
}

function oneOrMore(types: readonly JsonValue[]): JsonValue {
  const [only] = types;
  return only !== undefined && types.length === 1 ? only : [...types];
}

function withNull(list: readonly JsonValue[], nothing: JsonValue): JsonValue[] {
  const text = JSON.stringify(nothing);
  return list.some((entry) => JSON.stringify(entry) === text) ? [...list] : [...list, nothing];
}

function isWithinLimits(root: JsonSchema, most: StrictLimits): boolean {
  const count = { properties: 0, enumValues: 0, characters: 0, depth: 0 };
  let isEnumTooLong = false;
  const countEnum = (values: readonly JsonValue[]): void => {
    const characters = values.reduce<number>((sum, value) => sum + JSON.stringify(value).length, 0);
    count.enumValues += values.length;
    count.characters += characters;
    isEnumTooLong ||= values.length > most.longEnumValues && characters > most.longEnumCharacters;
  };
  const visit = (schema: JsonValue | undefined, depth: number): void => {
    if (!isJsonObject(schema)) return;
    count.depth = Math.max(count.depth, depth);
    if (Array.isArray(schema['enum'])) countEnum(schema['enum']);
    if (schema['const'] !== undefined) count.characters += JSON.stringify(schema['const']).length;
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
    !isEnumTooLong &&
    count.properties <= most.properties &&
    count.enumValues <= most.enumValues &&
    count.characters <= most.characters &&
    count.depth <= most.depth
  );
}

function mapValues(map: JsonObject, change: (part: JsonValue, name: string) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, part]) => [name, change(part, name)]));
}
