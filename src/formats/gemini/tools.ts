// Gemini: one tool that holds all function declarations. The API has no strict mode.
import { jsonFormat, type ToolFormat } from '../tool-format.ts';
import { GEMINI_RULES } from './rules.ts';

export const geminiTools: ToolFormat = jsonFormat(
  GEMINI_RULES,
  ({ name, description, schema }) => ({ name, description, parametersJsonSchema: schema }),
  (entries) => `[{"functionDeclarations":[${entries.join(',')}]}]`,
);
