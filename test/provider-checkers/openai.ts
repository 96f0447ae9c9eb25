// What OpenAI refuses: the error messages of its API, the published rules of Structured Outputs, and the strict schemas of its SDK.
import { isDeepStrictEqual } from 'node:util';
import { toStrictJsonSchema } from 'openai/lib/transform';
import { faultsOfJsonSchema } from './json-schema.ts';
import { everySchema, isSchema, typesOf, type Schema } from './walk.ts';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const REFUSED_AT_THE_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not', 'const'];

export interface FunctionDefinition {
  readonly name?: unknown;
  readonly description?: unknown;
  readonly parameters?: unknown;
  readonly strict?: unknown;
}

export function refusalsOfOpenAi(fn: FunctionDefinition): readonly string[] {
  const { name, description, parameters, strict } = fn;
  const faults: string[] = [];
  if (typeof name !== 'string' || !NAME.test(name)) faults.push(`name: does not match ${NAME}`);
  if (typeof description !== 'string' || description.length > 1024)
    faults.push('description: string too long, expected a maximum length of 1024');
  if (!isSchema(parameters)) return [...faults, 'parameters: is no object'];
  faults.push(...faultsOfParameters(parameters));
  return strict === true ? [...faults, ...faultsOfStrict(parameters)] : faults;
}

function faultsOfParameters(parameters: Schema): readonly string[] {
  const faults = [...faultsOfJsonSchema(parameters)];
  if (parameters['type'] !== 'object') faults.push('schema must be a JSON Schema of type "object"');
  if (!isSchema(parameters['properties'])) faults.push('object schema missing properties');
  for (const keyword of REFUSED_AT_THE_TOP)
    if (keyword in parameters) faults.push(`schema must not have ${keyword} at the top level`);
  for (const { schema, at } of everySchema(parameters)) {
    const isBoolean = typeof schema === 'boolean' && !/\/(additional|unevaluated)Properties$/.test(at);
    if (isBoolean) faults.push(`${at}: ${schema} is not of type "object"`);
    if (isSchema(schema) && typesOf(schema).includes('array') && !isSchema(schema['items']))
      faults.push(`${at}: array schema missing items`);
  }
  return faults;
}

const STRICT_KEYWORDS = new Set(
  (
    'type properties required additionalProperties items enum const anyOf $ref $defs title description ' +
    'pattern format multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems'
  ).split(' '),
);
const STRICT_FORMATS = 'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' ');

function faultsOfStrict(root: Schema): readonly string[] {
  const faults: string[] = [];
  const all = everySchema(root);
  let [properties, enumValues, characters] = [0, 0, 0];
  for (const { schema, at } of all) {
    if (!isSchema(schema)) continue;
    faults.push(...faultsOfStrictSchema(schema, at));
    const names = Object.keys((schema['properties'] as object | undefined) ?? {});
    const values = [...((schema['enum'] as unknown[] | undefined) ?? [])];
    properties += names.length;
    enumValues += values.length;
    for (const text of [...names, ...Object.keys((schema['$defs'] as object | undefined) ?? {}), ...values])
      characters += String(text).length;
    const texts = values.filter((value) => typeof value === 'string');
    if (values.length > 250 && texts.join('').length > 15_000) faults.push(`${at}/enum: too many characters`);
  }
  if (properties > 5_000) faults.push(`${properties} properties are more than 5000`);
  if (enumValues > 1_000) faults.push(`${enumValues} enum values are more than 1000`);
  if (characters > 120_000) faults.push(`${characters} characters are more than 120000`);
  if (depthOf(root) > 10) faults.push('more than 10 levels of nesting');
  return [...faults, ...faultsOfSdk(root)];
}

function faultsOfStrictSchema(schema: Schema, at: string): readonly string[] {
  const faults: string[] = [];
  for (const keyword of Object.keys(schema))
    if (!STRICT_KEYWORDS.has(keyword)) faults.push(`${at}: '${keyword}' is not permitted`);
  if ('format' in schema && !STRICT_FORMATS.includes(String(schema['format'])))
    faults.push(`${at}: '${String(schema['format'])}' is not a valid format`);
  if ('$ref' in schema && Object.keys(schema).length > 1)
    faults.push(`${at}: $ref cannot have keywords beside it`);
  const says = ['type', 'anyOf', '$ref', 'enum', 'const'].some((keyword) => keyword in schema);
  if (!says) faults.push(`${at}: schema must have a 'type' key`);
  if (!typesOf(schema).includes('object') && !('properties' in schema)) return faults;
  const names = Object.keys((schema['properties'] as object | undefined) ?? {});
  if (!isDeepStrictEqual(schema['required'], names))
    faults.push(`${at}: 'required' is required to be an array including every key in properties`);
  if (schema['additionalProperties'] !== false)
    faults.push(`${at}: 'additionalProperties' is required to be supplied and to be false`);
  return faults;
}

function depthOf(schema: unknown): number {
  if (!isSchema(schema)) return 0;
  const below = (part: unknown, step: number) => step + depthOf(part);
  return Math.max(
    0,
    ...Object.values((schema['properties'] as object | undefined) ?? {}).map((part) => below(part, 1)),
    ...Object.values((schema['$defs'] as object | undefined) ?? {}).map((part) => below(part, 0)),
    ...((schema['anyOf'] as unknown[] | undefined) ?? []).map((part) => below(part, 0)),
    'items' in schema ? below(schema['items'], 1) : 0,
  );
}

/** The SDK makes a schema strict, or throws where it cannot be; one that is strict already comes back as it is. */
function faultsOfSdk(root: Schema): readonly string[] {
  try {
    const strict: unknown = toStrictJsonSchema(root);
    return isDeepStrictEqual(strict, root)
      ? []
      : [`the SDK makes another schema of it: ${JSON.stringify(strict)} of ${JSON.stringify(root)}`];
  } catch (error) {
    return [`the SDK refuses it: ${(error as Error).message}`];
  }
}
