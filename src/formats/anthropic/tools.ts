// Anthropic: tools as the Messages API takes them.
import { jsonFormat, type ToolFormat } from '../tool-format.ts';
import { ANTHROPIC_RULES } from './rules.ts';

export const anthropicTools: ToolFormat = jsonFormat(
  ANTHROPIC_RULES,
  ({ name, description, schema, strict }) => ({
    name,
    description,
    input_schema: schema,
    ...(strict && { strict }),
  }),
);
