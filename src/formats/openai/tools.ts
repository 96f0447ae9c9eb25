// OpenAI: tools as Chat Completions takes them, and as the Responses API takes them (flat, `strict` always said).
import type { JsonObject } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { toProviderSchema } from '../provider-schema.ts';
import { describe, type FormatRequest } from '../tool-format.ts';

export function openAiTools(request: FormatRequest): JsonObject[] {
  return request.functions.map((fn) => {
    const { strict, ...definition } = definitionOf(fn, request);
    return { type: 'function', function: request.strict ? { ...definition, strict } : definition };
  });
}

/** The Responses API tries strict mode unless told not to, so it is always told. */
export function openAiResponsesTools(request: FormatRequest): JsonObject[] {
  return request.functions.map((fn) => ({ type: 'function', ...definitionOf(fn, request) }));
}

function definitionOf(fn: ToolFunction, request: FormatRequest) {
  const { schema, strict } = toProviderSchema(fn.inputSchema, 'openai', request.strict);
  return { name: request.nameOf(fn.name), description: describe(fn), parameters: schema, strict };
}
