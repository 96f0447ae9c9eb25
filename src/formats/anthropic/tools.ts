// Anthropic: tools as the Messages API takes them.
import type { JsonObject } from '../../contract/json.ts';
import { toProviderSchema } from '../provider-schema.ts';
import { describe, type FormatRequest } from '../tool-format.ts';

export function anthropicTools(request: FormatRequest): JsonObject[] {
  return request.functions.map((fn) => {
    const { schema, strict } = toProviderSchema(fn.inputSchema, 'anthropic', request.strict);
    const tool: JsonObject = {
      name: request.nameOf(fn.name),
      description: describe(fn),
      input_schema: schema,
    };
    return strict ? { ...tool, strict } : tool;
  });
}
