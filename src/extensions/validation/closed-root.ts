// The closed root: arguments that the input schema does not declare are none, unless the schema itself speaks of them.
import type { JsonSchema } from '../../contract/json.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import { IN_PLACE } from '../../lib/json-schema/named-properties.ts';

export type UndeclaredArguments = 'refuse' | 'drop' | 'allow';

/**
 * The tool as callers are held to it. What somebody else wrote keeps what its source says; so does a schema that says
 * at its root what becomes of other members. Nested objects are not touched.
 */
export function withClosedRoot(spec: ToolSpec, undeclared: UndeclaredArguments): ToolSpec {
  if (spec.foreign !== undefined) return spec;
  const { inputSchema, actions } = spec;
  if (actions !== undefined) return { ...spec, undeclaredArguments: undeclared };
  if ('additionalProperties' in inputSchema || 'unevaluatedProperties' in inputSchema) return spec;
  if (undeclared === 'allow') return spec;
  return { ...spec, undeclaredArguments: undeclared, inputSchema: closed(inputSchema) };
}

/**
 * The plain keyword where it means the same: every provider and both dialects know it. Members that allOf, $ref and
 * the like declare are seen by the other one alone.
 */
function closed(schema: JsonSchema): JsonSchema {
  const isPlain = !IN_PLACE.some((keyword) => keyword in schema);
  return { ...schema, [isPlain ? 'additionalProperties' : 'unevaluatedProperties']: false };
}
