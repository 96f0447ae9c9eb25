// What Anthropic refuses: the error messages of its API, the published limits of strict tools, and the strict schemas of its SDK.
import { isDeepStrictEqual } from 'node:util';
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import { faultsOfJsonSchema } from './json-schema.ts';
import { everySchema, hasCycle, isSchema, type Schema } from './walk.ts';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

export interface AnthropicTool {
  readonly name?: unknown;
  readonly description?: unknown;
  readonly input_schema?: unknown;
  readonly strict?: unknown;
}

export function refusalsOfAnthropic(tool: AnthropicTool): readonly string[] {
  const { name, description, input_schema: schema, strict } = tool;
  const faults: string[] = [];
  if (typeof name !== 'string' || !NAME.test(name)) faults.push(`name: should match ${NAME}`);
  if (typeof description !== 'string') faults.push('description: is no text');
  if (!isSchema(schema)) return [...faults, 'input_schema: is no object'];
  if (schema['type'] !== 'object') faults.push('input_schema.type: Input should be "object"');
  for (const keyword of ['oneOf', 'allOf', 'anyOf'])
    if (keyword in schema) faults.push(`input_schema does not support ${keyword} at the top level`);
  faults.push(...faultsOfJsonSchema(schema), ...faultsOfNames(schema));
  return strict === true ? [...faults, ...faultsOfStrict(schema)] : faults;
}

export function faultsOfNames(root: Schema): readonly string[] {
  return everySchema(root).flatMap(({ schema, at }) =>
    Object.keys((isSchema(schema) && (schema['properties'] as object | undefined)) || {})
      .filter((name) => !PROPERTY.test(name))
      .map((name) => `${at}/properties: keys should match ${PROPERTY}: ${name}`),
  );
}

/** Over all strict tools of one request. */
export function refusalsOfAnthropicRequest(tools: readonly AnthropicTool[]): readonly string[] {
  const strict = tools.filter((tool) => tool.strict === true);
  let [optional, unions] = [0, 0];
  for (const { schema } of strict.flatMap((tool) => everySchema(tool.input_schema))) {
    if (!isSchema(schema)) continue;
    const names = Object.keys((schema['properties'] as object | undefined) ?? {});
    const required = (schema['required'] as unknown[] | undefined) ?? [];
    optional += names.filter((name) => !required.includes(name)).length;
    if ('anyOf' in schema || Array.isArray(schema['type'])) unions += 1;
  }
  return [
    ...(strict.length > 20 ? [`${strict.length} strict tools are more than 20`] : []),
    ...(optional > 24 ? [`${optional} optional parameters of strict tools are more than 24`] : []),
    ...(unions > 16 ? [`${unions} unions in strict tools are more than 16`] : []),
  ];
}

function faultsOfStrict(root: Schema): readonly string[] {
  const faults: string[] = [];
  for (const { schema, at } of everySchema(root)) {
    const isObject = isSchema(schema) && (schema['type'] === 'object' || 'properties' in schema);
    if (isObject && schema['additionalProperties'] !== false)
      faults.push(`${at}: for 'object' type, 'additionalProperties' must be explicitly set to false`);
  }
  const parts = (schema: Schema) =>
    everySchema({ ...schema, $defs: {} })
      .slice(1)
      .map((each) => each.schema);
  if (hasCycle(root, parts)) faults.push('recursive schemas are not supported');
  return [...faults, ...faultsOfSdk(root)];
}

/** The SDK tells in the description what strict mode cannot: of a schema that says nothing more, nothing changes. */
function faultsOfSdk(root: Schema): readonly string[] {
  try {
    const transformed: unknown = transformJSONSchema(root);
    return isDeepStrictEqual(withoutListedTypes(transformed), withoutListedTypes(root))
      ? []
      : [`the SDK makes another schema of it: ${JSON.stringify(transformed)} of ${JSON.stringify(root)}`];
  } catch (error) {
    return [`the SDK refuses it: ${(error as Error).message}`];
  }
}

/** It leaves `type` out beside `enum` and `const`, where it says nothing more, and puts an empty `properties` in. */
function withoutListedTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutListedTypes);
  if (!isSchema(value)) return value;
  const { type, ...rest } = value;
  const isListed = ('enum' in rest && Array.isArray(rest['enum'])) || 'const' in rest;
  const entries = Object.entries(rest).map(([key, inner]) => [key, withoutListedTypes(inner)]);
  return {
    ...(type !== undefined && !isListed && { type: withoutListedTypes(type) }),
    ...Object.fromEntries(entries),
  };
}
