// MCP: tools as a tools/list result holds them. Names keep their dots, schemas are whole.
import { isJsonObject, type JsonObject, type JsonSchema } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { isUnsafe, type ToolIcon, type ToolMetadata } from '../../contract/tool/tool-spec.ts';
import { wholeDescription, type ToolFormat } from '../tool-format.ts';
import { parameterHeaders, withoutParameterHeaders } from './parameter-headers.ts';
import { MCP_RULES } from './rules.ts';

export const mcpTools: ToolFormat = {
  rules: MCP_RULES,
  entry: (fn) => ({ text: JSON.stringify(mcpTool(fn)) }),
  list: (entries) => `{"tools":[${entries.join(',')}]}`,
};

/** `isModern`: the client is one of 2026-07-28, takes output schemas that are not an object's, and says parameters in headers. */
export function mcpTool(fn: ToolFunction, isModern = false): JsonObject {
  const { title: own, icons } = fn.spec.metadata;
  // That of a tool with actions is of all of them.
  const title = fn.spec.actions === undefined ? (own ?? fn.inputSchema['title']) : fn.inputSchema['title'];
  return {
    name: fn.name,
    ...(typeof title === 'string' ? { title } : {}),
    ...(icons !== undefined && { icons: icons.map(iconOf) }),
    description: wholeDescription(fn),
    inputSchema: ofObjects({ ...inputOf(fn, isModern), type: 'object' }),
    // A client of 2025-11-25 refuses the whole list over one output schema that is not an object's.
    ...(isModern || fn.outputSchema?.['type'] === 'object' ? outputOf(fn) : {}),
    annotations: annotationsOf(fn.spec.metadata),
  };
}

function inputOf({ inputSchema }: ToolFunction, isModern: boolean): JsonSchema {
  return isModern && parameterHeaders(inputSchema).length > 0
    ? inputSchema
    : withoutParameterHeaders(inputSchema);
}

function iconOf({ sizes, ...icon }: ToolIcon): JsonObject {
  return { ...icon, ...(sizes !== undefined && { sizes: [...sizes] }) };
}

function outputOf({ outputSchema }: ToolFunction): JsonObject {
  return outputSchema === undefined ? {} : { outputSchema: ofObjects(outputSchema) };
}

/** Clients of 2025-11-25 refuse the whole list over a property that is `true` or `false`. */
function ofObjects(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const written = Object.entries(properties).map(([name, part]) => [
    name,
    typeof part === 'boolean' ? (part ? {} : { not: {} }) : part,
  ]);
  return { ...schema, properties: Object.fromEntries(written) as JsonObject };
}

function annotationsOf(metadata: ToolMetadata): JsonObject {
  return {
    readOnlyHint: metadata.readOnly,
    destructiveHint: !metadata.readOnly && isUnsafe(metadata),
    idempotentHint: metadata.idempotent,
    // A specification does not say what a tool reaches; the protocol's own default is the careful answer.
    openWorldHint: true,
  };
}
