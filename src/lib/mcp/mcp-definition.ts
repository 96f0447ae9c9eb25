// The definition of a tool on an MCP server, as one hash: what an operator agreed to, and whether it is still that.
import { canonicalHash } from '../json/canonical-json.ts';

/** The parts of a definition that a model or a caller sees. All of them come from the server. */
export interface McpDefinition {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: object;
  readonly outputSchema?: object | undefined;
  readonly annotations?: object | undefined;
}

/** sha256 of the definition's canonical JSON (RFC 8785), hex. Throws Error for what canonical JSON cannot say. */
export function definitionHash(tool: McpDefinition): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return canonicalHash({
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  });
}
