// Bedrock: the toolConfig of Converse.
import { jsonFormat, type ToolFormat } from '../tool-format.ts';
import { BEDROCK_RULES } from './rules.ts';

export const bedrockTools: ToolFormat = jsonFormat(
  BEDROCK_RULES,
  ({ name, description, schema }) => ({ toolSpec: { name, description, inputSchema: { json: schema } } }),
  (entries) => `{"tools":[${entries.join(',')}]}`,
);
