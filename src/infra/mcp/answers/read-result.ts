// Reads a server's answer to a call as the port gives it: every block checked, and as the server sent it.
import type { StandardSchemaV1 } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { McpResult } from '../../../ports/egress/mcp-servers.ts';

/** Knows every form that a content block may have. */
export type BlockCheck = (block: JsonObject) => boolean;

/** What an answer without content may hold: any other field shows that it is the answer to something else. */
const BESIDE_CONTENT: ReadonlySet<string> = new Set(['structuredContent', 'isError', '_meta', 'resultType']);

/** What the SDK takes the answer to a call by. */
export function resultSchema(isBlock: BlockCheck): StandardSchemaV1<unknown, McpResult> {
  return {
    '~standard': {
      version: 1,
      vendor: 'unified-tool-executor',
      validate: (value) => {
        const read = readResult(value, isBlock);
        return typeof read === 'string' ? { issues: [{ message: read }] } : { value: read };
      },
    },
  };
}

/** A string: what is wrong with it. */
export function readResult(value: unknown, isBlock: BlockCheck): McpResult | string {
  if (!isJsonObject(value)) return 'the result is not an object';
  const { content, structuredContent, isError } = value;
  if (isError !== undefined && typeof isError !== 'boolean') return 'isError is not a boolean';
  const blocks = content === undefined ? noBlocks(value) : readBlocks(content, isBlock);
  if (typeof blocks === 'string') return blocks;
  return {
    content: blocks,
    ...(structuredContent !== undefined && { structuredContent }),
    isError: isError === true,
  };
}

function noBlocks(result: JsonObject): readonly JsonObject[] | string {
  const foreign = Object.keys(result).find((key) => !BESIDE_CONTENT.has(key));
  return foreign === undefined ? [] : 'there is no content';
}

function readBlocks(content: JsonValue, isBlock: BlockCheck): readonly JsonObject[] | string {
  if (!Array.isArray(content)) return 'content is not a list';
  const blocks: JsonObject[] = [];
  for (const block of content) {
    if (!isJsonObject(block)) return 'a content block is not an object';
    if (!isPlainText(block) && !isBlock(block)) return 'a content block is of no known form';
    blocks.push(block);
  }
  return blocks;
}

/** Most blocks are nothing else, and a schema takes long to say so. */
function isPlainText(block: JsonObject): boolean {
  for (const key in block) if (key !== 'type' && key !== 'text') return false;
  return block['type'] === 'text' && typeof block['text'] === 'string';
}
