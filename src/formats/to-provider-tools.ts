// Provider tools: a list of functions in the form that a model provider's SDK, MCP or a system prompt takes.
import type { JsonValue } from '../contract/json.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import { anthropicTools } from './anthropic/tools.ts';
import { geminiTools } from './gemini/tools.ts';
import { mcpTools } from './mcp.ts';
import { openAiResponsesTools, openAiTools } from './openai/tools.ts';
import { promptText } from './prompt.ts';
import type { FormatWriter } from './tool-format.ts';

const WRITERS = {
  openai: openAiTools,
  'openai-responses': openAiResponsesTools,
  anthropic: anthropicTools,
  gemini: geminiTools,
  mcp: mcpTools,
  prompt: promptText,
} as const satisfies Record<string, FormatWriter>;

export type ToolFormat = keyof typeof WRITERS;

export const TOOL_FORMATS = Object.keys(WRITERS) as [ToolFormat, ...ToolFormat[]];

/** JSON for every format but `prompt`, which is text. Pure: the same snapshot always gives the same. */
export function toProviderTools(
  functions: readonly ToolFunction[],
  nameOf: (functionName: string) => string,
  format: ToolFormat,
  options: { readonly strict?: boolean } = {},
): JsonValue {
  // What is deprecated is still served, and no longer offered.
  const offered = functions.filter(({ byAction }) => byAction === undefined);
  return WRITERS[format]({ functions: offered, nameOf, strict: options.strict ?? false });
}
