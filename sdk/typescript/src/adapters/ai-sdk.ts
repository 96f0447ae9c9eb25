// The Vercel AI SDK: tools for `generateText`, `streamText` and agents. Its package is not needed here.
import type { Toolbox } from '../loop/toolbox.ts';
import { resultFor } from './tool-result.ts';

/** How the AI SDK knows a schema of its own (`jsonSchema()`). */
const SCHEMA = Symbol.for('vercel.ai.schema');

interface Execution {
  readonly abortSignal?: AbortSignal | undefined;
}

export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: never;
  readonly execute: (input: unknown, options?: Execution) => Promise<never>;
}

/** `generateText({ model, tools: await aiSdkTools(gatewayTools(client)) })` */
export async function aiSdkTools(tools: Toolbox): Promise<Record<string, AiSdkTool>> {
  const listed = await tools.list();
  return Object.fromEntries(
    listed.map(({ name, description, inputSchema }) => [
      name,
      {
        description,
        inputSchema: schemaOf(inputSchema) as never,
        execute: async (input: unknown, { abortSignal }: Execution = {}) =>
          (await resultFor(tools, name, input, abortSignal)) as never,
      },
    ]),
  );
}

/** The gateway validates: here everything passes. */
function schemaOf(inputSchema: object) {
  return {
    [SCHEMA]: true,
    _type: undefined,
    jsonSchema: inputSchema,
    validate: (value: unknown) => ({ success: true, value }),
  };
}
