// Reads the SDK's result of a call as the port gives it: blocks and structured content as the server sent them.
import type { CallToolResult } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import type { McpResult } from '../../ports/mcp-servers.ts';
import { invalidAnswer } from './failures.ts';

export function readResult({ content, structuredContent, isError }: CallToolResult): McpResult {
  const blocks = content.map((block: unknown) => {
    if (!isJsonObject(block)) throw invalidAnswer('a content block is not an object');
    return block;
  });
  return {
    content: blocks,
    // It came out of a JSON parser.
    ...(structuredContent !== undefined && { structuredContent: structuredContent as JsonValue }),
    isError: isError === true,
  };
}
