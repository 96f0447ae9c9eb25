// OpenAI: tools as Chat Completions takes them, and as the Responses API takes them (flat, `strict` always said).
import { jsonFormat, type ToolFormat } from '../tool-format.ts';
import { OPENAI_RULES } from './rules.ts';

export const openAiTools: ToolFormat = jsonFormat(
  OPENAI_RULES,
  ({ name, description, schema, strict }, asked) => ({
    type: 'function',
    function: { name, description, parameters: schema, ...(asked.strict && { strict }) },
  }),
);

/** The Responses API tries strict mode unless told not to, so it is always told. */
export const openAiResponsesTools: ToolFormat = jsonFormat(
  OPENAI_RULES,
  ({ name, description, schema, strict }) => ({
    type: 'function',
    name,
    description,
    parameters: schema,
    strict,
  }),
);
