// LlamaIndex.TS: tools for its agents. The caller hands over its `FunctionTool`, or what makes one.
import type { Toolbox } from '../loop/toolbox.ts';
import { resultFor, ToolCallFailed } from './tool-result.ts';

interface FunctionToolClass<Tool> {
  from(
    run: (input: never) => Promise<never>,
    fields: { name: string; description: string; parameters: never },
  ): Tool;
}

/** `const tools = await llamaIndexTools(gatewayTools(client), FunctionTool)`. An error of a tool is a text for the model. */
export async function llamaIndexTools<Tool>(
  tools: Toolbox,
  FunctionTool: FunctionToolClass<Tool>,
): Promise<Tool[]> {
  const listed = await tools.list();
  return listed.map(({ name, description, inputSchema }) =>
    FunctionTool.from(
      async (input) => {
        try {
          return (await resultFor(tools, name, input)) as never;
        } catch (error) {
          if (error instanceof ToolCallFailed) return error.message as never;
          throw error;
        }
      },
      { name, description, parameters: inputSchema as never },
    ),
  );
}
