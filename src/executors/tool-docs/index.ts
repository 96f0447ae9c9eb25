// The tool-docs executor: a tool that tells a model the whole documentation of another one, of those that its caller is shown.
import { z } from 'zod';
import { isJsonObject } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import type { KnownTool } from '../../contract/tool/tool-function.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';

const optionsSchema = z.strictObject({
  argument: z
    .string()
    .min(1)
    .default('tool')
    .describe('Name of the argument that holds the name of the tool.'),
});
type DocsOptions = z.output<typeof optionsSchema>;

export const toolDocsExecutor: ExecutorPlugin<DocsOptions, object> = {
  name: 'tool-docs',
  summary:
    'Tells the documentation of a tool, of those that its caller is shown: what prompts hold the summary of.',
  optionsSchema,
  create: () => createToolDocs(),
};

/** Of thousands of names nobody has meant the nearest. */
const MOST_CANDIDATES = 1_000;

function createToolDocs(): Executor<DocsOptions> {
  return {
    prepare({ function: fn, options: { argument } }: ExecutorTarget<DocsOptions>): PreparedFunction {
      const { properties } = fn.inputSchema;
      if (!isJsonObject(properties) || !Object.hasOwn(properties, argument))
        throw new Error(`argument: the input schema has no property "${argument}", which names the tool.`);
      return { yieldsPlainJson: true, execute: async (call) => docsOf(call, call.arguments[argument]) };
    },
  };
}

/** What is hidden from the caller is not there. */
function docsOf(call: ToolCall, name: unknown): ToolResult {
  const tool = typeof name === 'string' ? shown(call, call.snapshot.find(name)) : undefined;
  if (tool === undefined) throw unknown(call, name);
  const { spec, description } = tool.function;
  const { summary = description, documentation = null } = spec.metadata;
  return { data: { name: tool.function.name, description, summary, documentation } };
}

function shown({ principal }: ToolCall, tool: KnownTool | undefined): KnownTool | undefined {
  return principal !== undefined && tool?.isShownTo?.({ principal }) !== false ? tool : undefined;
}

function unknown(call: ToolCall, name: unknown) {
  const candidates = call.snapshot.functions
    .slice(0, MOST_CANDIDATES)
    .map((fn) => fn.name)
    .filter((each) => shown(call, call.snapshot.find(each)) !== undefined);
  const near = typeof name === 'string' ? didYouMean(name, candidates) : undefined;
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  return toolFailure('TOOL_NOT_FOUND', `There is no tool of this name.${hint}`, { origin: 'tool' });
}
