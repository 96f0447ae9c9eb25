// MCP: tools as a tools/list result holds them. Names keep their dots, schemas are whole.
import type { JsonObject } from '../contract/json.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import { isUnsafe, type ToolMetadata } from '../contract/tool/tool-spec.ts';
import { describe, type FormatRequest } from './tool-format.ts';

export function mcpTools({ functions }: Pick<FormatRequest, 'functions'>): JsonObject {
  return { tools: functions.map((fn) => mcpTool(fn)) };
}

/** `anyOutput`: the client takes output schemas that are not an object's, as those of 2026-07-28 do. */
export function mcpTool(fn: ToolFunction, anyOutput = false): JsonObject {
  const { title } = fn.inputSchema;
  return {
    name: fn.name,
    ...(typeof title === 'string' ? { title } : {}),
    description: describe(fn),
    inputSchema: { ...fn.inputSchema, type: 'object' },
    // A client of 2025-11-25 refuses the whole list over one output schema that is not an object's.
    ...(anyOutput || fn.outputSchema?.['type'] === 'object' ? outputOf(fn) : {}),
    annotations: annotationsOf(fn.spec.metadata),
  };
}

function outputOf({ outputSchema }: ToolFunction): JsonObject {
  return outputSchema === undefined ? {} : { outputSchema };
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
