// LangChain: tools for `bindTools`, agents and `ToolNode`. The caller hands over its `tool` of @langchain/core/tools.
import type { Toolbox } from '../loop/toolbox.ts';
import { resultFor, ToolCallFailed } from './tool-result.ts';

interface Config {
  readonly signal?: AbortSignal | undefined;
}
type MakeTool<Tool> = (
  run: (input: never, config?: Config) => Promise<never>,
  fields: { name: string; description: string; schema: never },
) => Tool;

/** `const tools = await langchainTools(gatewayTools(client), tool)`. An error of a tool is a text for the model, as its data is. */
export async function langchainTools<Tool>(tools: Toolbox, tool: MakeTool<Tool>): Promise<Tool[]> {
  const listed = await tools.list();
  return listed.map(({ name, description, inputSchema }) =>
    tool(
      async (input, config) => {
        try {
          const data = await resultFor(tools, name, input, config?.signal);
          return (typeof data === 'string' ? data : JSON.stringify(data)) as never;
        } catch (error) {
          if (error instanceof ToolCallFailed) return error.message as never;
          throw error;
        }
      },
      { name, description, schema: inputSchema as never },
    ),
  );
}
