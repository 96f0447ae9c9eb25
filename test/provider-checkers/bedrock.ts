// What Bedrock refuses: the service model that AWS publishes of Converse, and what the strictest of its models takes.
import { faultsOfNames } from './anthropic.ts';
import { faultsOfJsonSchema } from './json-schema.ts';
import { isSchema } from './walk.ts';

export function refusalsOfBedrock(tool: { readonly toolSpec?: unknown }): readonly string[] {
  const spec = tool.toolSpec;
  if (!isSchema(spec)) return ['a tool is a toolSpec'];
  const { name, description, inputSchema, ...rest } = spec;
  const faults: string[] = [];
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    faults.push('toolSpec.name: does not fit');
  if (typeof description !== 'string' || description === '')
    faults.push('toolSpec.description: min length 1');
  for (const member of Object.keys(rest)) if (member !== 'strict') faults.push(`toolSpec has no ${member}`);
  const schema = isSchema(inputSchema) ? inputSchema['json'] : undefined;
  if (!isSchema(schema) || schema['type'] !== 'object')
    return [...faults, 'inputSchema.json.type must be object'];
  return [...faults, ...faultsOfJsonSchema(schema), ...faultsOfNames(schema)];
}
