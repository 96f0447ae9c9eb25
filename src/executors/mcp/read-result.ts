// What a server's answer means: a result of the form that was asked for, or the tool's own error.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import type { SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import type { McpResult } from '../../ports/egress/mcp-servers.ts';

export type ResultKind = 'structured' | 'content';

const MAX_ERROR_CHARS = 2_000;

export function readResult(result: McpResult, kind: ResultKind, scrubber: SecretScrubber): ToolResult {
  const { content, structuredContent, isError } = result;
  if (isError) throw toolError(content, scrubber);
  if (kind === 'structured') {
    if (structuredContent !== undefined) return { data: structuredContent };
    throw toolFailure('NO_STRUCTURED_CONTENT', 'The MCP tool answered without structured content.');
  }
  const data: { [key: string]: JsonValue } = { content: [...content] };
  if (structuredContent !== undefined) data['structuredContent'] = structuredContent;
  return { data };
}

/** The server says itself that the tool failed, and in its text why: that is for the agent to read. */
function toolError(content: readonly JsonObject[], scrubber: SecretScrubber): ToolFailure {
  const text = content
    .map((block) => (isJsonObject(block) && typeof block['text'] === 'string' ? block['text'] : ''))
    .filter((each) => each !== '')
    .join('\n')
    .trim();
  const message = scrubber.cut(text, MAX_ERROR_CHARS);
  return toolFailure('TOOL_ERROR', message === '' ? 'The MCP tool reported an error.' : message, {
    origin: 'tool',
  });
}
