// Mistral: tools in the form that OpenAI's Chat Completions has.
import { jsonFormat, type ToolFormat } from '../tool-format.ts';
import { MISTRAL_RULES } from './rules.ts';

export const mistralTools: ToolFormat = jsonFormat(MISTRAL_RULES, ({ name, description, schema }) => ({
  type: 'function',
  function: { name, description, parameters: schema },
}));
