// Tool lists: functions in the form that a model provider's SDK, MCP or a system prompt takes.
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import { anthropicTools } from './anthropic/tools.ts';
import { bedrockTools } from './bedrock/tools.ts';
import { geminiTools } from './gemini/tools.ts';
import { mcpTools } from './mcp/tools.ts';
import { mistralTools } from './mistral/tools.ts';
import { openAiResponsesTools, openAiTools } from './openai/tools.ts';
import { promptTools } from './prompt/text.ts';
import type { StrictCost } from './provider-rules.ts';
import type { ToolEntry, ToolFormat } from './tool-format.ts';

export const FORMATS = {
  openai: openAiTools,
  'openai-responses': openAiResponsesTools,
  anthropic: anthropicTools,
  gemini: geminiTools,
  bedrock: bedrockTools,
  mistral: mistralTools,
  mcp: mcpTools,
  prompt: promptTools,
} as const satisfies Record<string, ToolFormat>;

export type FormatName = keyof typeof FORMATS;

export const TOOL_FORMATS = Object.keys(FORMATS) as [FormatName, ...FormatName[]];

const NOTHING: StrictCost = { tools: 0, optionalProperties: 0, unions: 0 };

export class ToolLists {
  /** What was written once is the same in every list, for as long as the function is in force. */
  readonly #entries = new WeakMap<ToolFunction, Map<string, ToolEntry>>();

  /**
   * Text: JSON for every format but `prompt`. Pure: the same functions always give the same. Yields after each function, since
   * a thousand of them take their time.
   */
  *write(
    functions: readonly ToolFunction[],
    nameOf: (functionName: string) => string,
    format: FormatName,
    strict = false,
  ): Generator<void, string> {
    const texts: string[] = [];
    let spent = NOTHING;
    for (const fn of functions) {
      // What is deprecated is still served, and no longer offered.
      if (fn.byAction !== undefined) continue;
      const name = nameOf(fn.name);
      let entry = this.#entryOf(fn, name, format, strict);
      const after = sum(spent, entry.cost ?? NOTHING);
      if (isTooMuch(after, format)) entry = this.#entryOf(fn, name, format, false);
      else spent = after;
      texts.push(entry.text);
      yield;
    }
    return FORMATS[format].list(texts);
  }

  #entryOf(fn: ToolFunction, name: string, format: FormatName, strict: boolean): ToolEntry {
    const known = this.#entries.get(fn) ?? new Map<string, ToolEntry>();
    this.#entries.set(fn, known);
    const key = `${format} ${strict} ${name}`;
    let entry = known.get(key);
    if (entry === undefined) known.set(key, (entry = FORMATS[format].entry(fn, name, strict)));
    return entry;
  }
}

function sum(one: StrictCost, other: StrictCost): StrictCost {
  return {
    tools: one.tools + other.tools,
    optionalProperties: one.optionalProperties + other.optionalProperties,
    unions: one.unions + other.unions,
  };
}

function isTooMuch(cost: StrictCost, format: FormatName): boolean {
  const { rules }: ToolFormat = FORMATS[format];
  const most = rules?.strict?.perRequest;
  return (
    most !== undefined &&
    (cost.tools > most.tools ||
      cost.optionalProperties > most.optionalProperties ||
      cost.unions > most.unions)
  );
}
