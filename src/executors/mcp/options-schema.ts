// The mcp executor's options: which tool of which server, what it was agreed to be, and what of its answer is the result.
import { z } from 'zod';

export const mcpOptionsSchema = z.strictObject({
  connection: z.string().min(1).describe('The server: a connection of type mcp.'),
  tool: z.string().min(1).max(256).describe('Name of the tool on the server.'),
  definition_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: 'Expected a sha256 of 64 hexadecimal digits.' })
    .optional()
    .describe(
      "The definition that was agreed to (sha256). When the server's is another one, calls are refused: TOOL_DEFINITION_CHANGED.",
    ),
  result: z
    .enum(['structured', 'content'])
    .optional()
    .describe(
      'structured: the structured content alone; content: {content, structuredContent}. When left out, structured for tools with an output_schema.',
    ),
});

export type McpOptions = z.output<typeof mcpOptionsSchema>;
