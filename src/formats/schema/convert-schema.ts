// Conversion: writes a plain schema by a provider's rules. What has to go is dropped, listed, and told in the description.
import { isJsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { childPointer } from '../../lib/json/json-pointer.ts';
import type { SchemaRules } from '../provider-rules.ts';
import { isWorthTelling, noteOf, withNotes } from './description-notes.ts';
import { inItsKeywords, typesOfValues, undeclared } from './rewrite-node.ts';
import { HOLDS_LIST, HOLDS_MAP, HOLDS_ONE } from './sub-schemas.ts';

/** Keywords that may name further properties: without them an object must be taken as open. */
const MAY_NAME_PROPERTIES = ['allOf', 'anyOf', 'oneOf', 'then', 'else', 'dependentSchemas', '$ref'];

export interface Conversion {
  readonly rules: SchemaRules;
  /** The provider's spelling of a property's name. */
  readonly spell: (name: string) => string;
  /** JSON pointers of what was dropped. */
  readonly lossy: string[];
}

/** Only ever widens: a value that is valid for `schema` is valid for what comes out, under the spellings of its names. */
export function convertSchema(schema: JsonSchema, conversion: Conversion): JsonSchema {
  const converted = convert(schema, '', conversion);
  return isJsonObject(converted) ? converted : {};
}

function convert(source: JsonValue, pointer: string, conversion: Conversion): JsonValue {
  const { rules, lossy } = conversion;
  if (!isJsonObject(source)) return converted(source, pointer, conversion);
  const schema = inItsKeywords(source, rules);
  const kept: [string, JsonValue][] = [];
  const dropped = new Map<string, JsonValue>();
  for (const [keyword, value] of Object.entries(schema)) {
    const at = childPointer(pointer, keyword);
    if (isAccepted(keyword, value, schema, rules)) {
      kept.push([keyword, convertValue(keyword, value, at, conversion)]);
    } else if (isWorthTelling(keyword)) {
      dropped.set(keyword, value);
      lossy.push(at);
    }
  }
  const misnamed = rules.requiresDeclared === true ? undeclared(schema) : [];
  if (misnamed.length > 0) {
    dropped.set('required', misnamed);
    lossy.push(childPointer(pointer, 'required'));
  }
  const notes = [...dropped].map(([keyword, value]) => noteOf(keyword, value));
  const description = withNotes(schema['description'], notes);
  const result = mended(widened(Object.fromEntries(kept), dropped), schema, conversion);
  return wrapRef(description === undefined ? result : { ...result, description }, rules);
}

/** `true` and `false`, and what is no schema. */
function converted(source: JsonValue, pointer: string, { rules, lossy }: Conversion): JsonValue {
  if (!rules.isSubset) {
    if (rules.needsObjects !== true || typeof source !== 'boolean') return source;
    return source ? {} : { not: {} };
  }
  if (source === false) lossy.push(pointer);
  return {};
}

function isAccepted(keyword: string, value: JsonValue, schema: JsonSchema, rules: SchemaRules): boolean {
  if (keyword === '$ref' && rules.isSubset) return !('anyOf' in schema);
  return rules.accepts(keyword, value);
}

function convertValue(keyword: string, value: JsonValue, pointer: string, conversion: Conversion): JsonValue {
  const { spell } = conversion;
  if (keyword.endsWith('Properties') && typeof value === 'boolean') return value;
  if (HOLDS_ONE.has(keyword)) return convert(value, pointer, conversion);
  if (HOLDS_LIST.has(keyword) && Array.isArray(value)) {
    return value.map((part, index) => convert(part, `${pointer}/${index}`, conversion));
  }
  if (HOLDS_MAP.has(keyword) && isJsonObject(value)) {
    const isNamed = keyword === 'properties' || keyword === 'dependentSchemas';
    const parts = Object.entries(value);
    return Object.fromEntries(
      parts.map(([name, part]) => {
        const inner = convert(part, childPointer(pointer, name), conversion);
        return isNamed ? named(name, inner, spell) : [name, inner];
      }),
    );
  }
  return respelt(keyword, value, spell);
}

/** Under another name, the property is titled with its own: a model may not guess it from what is left of it. */
function named(name: string, schema: JsonValue, spell: Conversion['spell']): [string, JsonValue] {
  const spelling = spell(name);
  const isBare = !isJsonObject(schema) || '$ref' in schema || 'title' in schema;
  return [spelling, spelling === name || isBare ? schema : { title: name, ...schema }];
}

/** Keywords whose values are names of properties. */
function respelt(keyword: string, value: JsonValue, spell: Conversion['spell']): JsonValue {
  const each = (names: JsonValue) =>
    Array.isArray(names) ? names.map((name) => (typeof name === 'string' ? spell(name) : name)) : names;
  if (keyword === 'required' || keyword === 'propertyOrdering') return each(value);
  if (keyword !== 'dependentRequired' || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, names]) => [spell(name), each(names)]));
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

/** Says what the provider wants to be said. `source` is the schema before its keywords were chosen. */
function mended(schema: JsonSchema, source: JsonSchema, { rules, spell }: Conversion): JsonSchema {
  let result = schema;
  if (rules.requiresDeclared === true && Array.isArray(result['required'])) {
    const declared = isJsonObject(source['properties']) ? source['properties'] : {};
    const names = new Set(Object.keys(declared).map(spell));
    const { required, ...rest } = result;
    const kept = required.filter((name) => typeof name === 'string' && names.has(name));
    result = kept.length === 0 ? rest : { ...rest, required: kept };
  }
  if (rules.listsTextsOnly === true && source['enum'] !== undefined && !('enum' in result))
    result = { type: typesOfValues(source['enum']), ...result };
  const isArray = [result['type'] ?? []].flat().includes('array');
  if (rules.needsItems === true && isArray && result['items'] === undefined)
    result = { ...result, items: {} };
  const respells =
    isJsonObject(source['properties']) && Object.keys(source['properties']).some((n) => spell(n) !== n);
  if (!respells || !('propertyNames' in result)) return result;
  // It was written for the names that are not there any more.
  const { propertyNames: _names, ...rest } = result;
  return rest;
}

function wrapRef(schema: JsonSchema, rules: SchemaRules): JsonSchema {
  const { $ref, ...others } = schema;
  if (!rules.isSubset || $ref === undefined || Object.keys(others).length === 0) return schema;
  return { ...others, anyOf: [{ $ref }] };
}
