// Gemini: one tool that holds all function declarations. The API has no strict mode.
import type { JsonObject } from '../../contract/json.ts';
import { toProviderSchema } from '../provider-schema.ts';
import { describe, type FormatRequest } from '../tool-format.ts';

export function geminiTools(request: FormatRequest): JsonObject[] {
  const functionDeclarations = request.functions.map((fn) => ({
    name: request.nameOf(fn.name),
    description: describe(fn),
    parametersJsonSchema: toProviderSchema(fn.inputSchema, 'gemini').schema,
  }));
  return [{ functionDeclarations }];
}
