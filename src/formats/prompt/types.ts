// Prompt types: a JSON Schema as a short type that a model reads in a line of text.
import { isJsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { resolveLocal } from '../schema/local-refs.ts';
import { LEFT_OUT, type PromptRoom } from './prompt-room.ts';

const MAX_DEPTH = 3;
/** Alternatives may refer to each other in a circle. */
const MAX_NESTING = 8;

const WORDS = new Map<JsonValue | undefined, string>([
  ['string', 'str'],
  ['integer', 'int'],
  ['number', 'float'],
  ['boolean', 'bool'],
  ['array', 'list'],
  ['object', 'dict'],
  ['null', 'null'],
]);

/** Of the tool that a type is written for. */
export interface Around {
  /** Where references start from. */
  readonly root: JsonSchema;
  readonly room: PromptRoom;
}

/** `str`, `list[int]`, `{sku: str, qty?: int}`, `str | null`; `dict` from the third level down. */
export function promptType(schema: JsonValue | undefined, around: Around, depth = 0): string {
  return [...new Set(alternativesOf(schema, around, depth))].join(' | ');
}

function alternativesOf(schema: JsonValue | undefined, around: Around, depth: number): readonly string[] {
  const target = resolveLocal(schema, around.root);
  if (!isJsonObject(target) || depth > MAX_NESTING || !around.room.take()) return ['any'];
  const alternatives = target['anyOf'] ?? target['oneOf'];
  if (Array.isArray(alternatives)) {
    return alternatives.flatMap((part) => alternativesOf(part, around, depth + 1));
  }
  const { type } = target;
  return Array.isArray(type)
    ? type.map((word) => singleType(target, word, around, depth))
    : [singleType(target, type, around, depth)];
}

function singleType(schema: JsonSchema, type: JsonValue | undefined, around: Around, depth: number): string {
  if (type === undefined && !isObjectWithProperties(schema)) return typeOfValues(schema);
  if (type === 'array' && schema['items'] !== undefined && depth < MAX_DEPTH) {
    return `list[${promptType(schema['items'], around, depth + 1)}]`;
  }
  const isObject = type === undefined || type === 'object';
  if (isObject && isObjectWithProperties(schema) && depth < MAX_DEPTH) return dictType(schema, around, depth);
  return WORDS.get(isObject ? 'object' : type) ?? 'any';
}

/** `"a" | "b"` for the values an argument may take, where they are listed. */
export function allowedValues(schema: JsonSchema): string | undefined {
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(' | ') : undefined;
}

function isObjectWithProperties(schema: JsonSchema): boolean {
  return isJsonObject(schema['properties']) && Object.keys(schema['properties']).length > 0;
}

function dictType(schema: JsonSchema, around: Around, depth: number): string {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields: string[] = [];
  for (const [name, part] of Object.entries(properties)) {
    if (!around.room.take(name)) {
      fields.push(LEFT_OUT);
      break;
    }
    fields.push(`${name}${required.includes(name) ? '' : '?'}: ${promptType(part, around, depth + 1)}`);
  }
  return `{${fields.join(', ')}}`;
}

function typeOfValues(schema: JsonSchema): string {
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) return 'any';
  return 'str';
}
