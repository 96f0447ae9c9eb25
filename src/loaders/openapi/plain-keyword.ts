// Keywords without sub-schemas: those that 2020-12 has, in the form that it wants them.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { plainText } from './plain-text.ts';
import { compilePattern, MAX_PATTERN_LENGTH } from '../../lib/json-schema/re2-engine.ts';

const TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'integer',
  'number',
  'boolean',
  'array',
  'object',
  'null',
]);
const LONGEST_TEXT = 1_000;
const LONGEST_ENUM = 500;

/** Keywords without sub-schemas; undefined: left out. A malformed one never takes the others along. */
export function plainKeyword(
  keyword: string,
  value: JsonValue | undefined,
  schema: JsonObject,
): JsonValue | undefined {
  switch (keyword) {
    case 'type':
      return typeOf(value);
    case 'title':
    case 'description':
      return typeof value === 'string' ? plainText(value).slice(0, LONGEST_TEXT).toWellFormed() : undefined;
    case 'format':
    case 'contentMediaType':
    case 'contentEncoding':
      return typeof value === 'string' ? value : undefined;
    case 'pattern':
      return typeof value === 'string' && isPattern(value) ? value : undefined;
    case 'enum':
      return enumOf(value, schema);
    case 'const':
      return isScalar(value) ? value : undefined;
    case 'minLength':
    case 'maxLength':
    case 'minItems':
    case 'maxItems':
    case 'minProperties':
    case 'maxProperties':
      return Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined;
    case 'multipleOf':
      return typeof value === 'number' && value > 0 ? value : undefined;
    case 'uniqueItems':
      return value === true ? true : undefined;
    case 'minimum':
    case 'maximum':
      return schema[`exclusive${keyword === 'minimum' ? 'Minimum' : 'Maximum'}`] === true
        ? undefined
        : numberOf(value);
    case 'exclusiveMinimum':
      return numberOf(value === true ? schema['minimum'] : value);
    case 'exclusiveMaximum':
      return numberOf(value === true ? schema['maximum'] : value);
    default:
      return undefined;
  }
}

function typeOf(value: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(value)) return TYPES.has(value) ? value : undefined;
  const known = [...new Set(value)].filter((name) => TYPES.has(name));
  return known.length > 0 ? known : undefined;
}

function enumOf(value: JsonValue | undefined, { nullable }: JsonObject): JsonValue | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > LONGEST_ENUM) return undefined;
  if (!value.every(isScalar)) return undefined;
  return [...new Set(nullable === true ? [...value, null] : value)];
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function isScalar(value: JsonValue | undefined): value is string | number | boolean | null {
  if (typeof value === 'string') return value.length <= LONGEST_TEXT;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

export function isPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN_LENGTH) return false;
  try {
    compilePattern(pattern);
    return true;
  } catch {
    return false;
  }
}
