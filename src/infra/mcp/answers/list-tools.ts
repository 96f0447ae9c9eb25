// The list of a server's tools: every page, within its bounds, each definition checked for what the gateway relies on.
import type { Client } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../../contract/json.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { McpLimits, McpTool } from '../../../ports/egress/mcp-servers.ts';
import { invalidAnswer, tooLarge } from '../failures.ts';
import { ANYTHING } from './anything.ts';

const MAX_NAME_CHARS = 256;
const MAX_TTL_MS = 24 * 3_600_000;

export interface ListedTools {
  readonly tools: readonly McpTool[];
  /** Names of those that run as tasks alone. */
  readonly asTasks: ReadonlySet<string>;
  readonly ttlMs?: number;
}

export async function listTools(
  client: Client,
  limits: McpLimits,
  signal: AbortSignal,
  timeout: number,
): Promise<ListedTools> {
  const tools = new Map<string, McpTool>();
  const asTasks = new Set<string>();
  const cursors = new Set<string>();
  let bytes = 0;
  let ttlMs: number | undefined;
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, ANYTHING, { signal, timeout });
    bytes += Buffer.byteLength(JSON.stringify(page));
    if (bytes > limits.maxMessageBytes) throw tooLarge(limits.maxMessageBytes);
    addTools(page['tools'], { tools, asTasks }, limits.maxTools);
    ttlMs = shorter(ttlMs, page['ttlMs']);
    const next = page['nextCursor'];
    if (typeof next !== 'string')
      return { tools: [...tools.values()], asTasks, ...(ttlMs !== undefined && { ttlMs }) };
    if (cursors.has(next)) throw invalidAnswer('its list of tools goes round in circles');
    cursors.add(next);
    cursor = next;
  }
}

interface Read {
  readonly tools: Map<string, McpTool>;
  readonly asTasks: Set<string>;
}

function addTools(listed: unknown, { tools, asTasks }: Read, most: number): void {
  if (!Array.isArray(listed)) throw invalidAnswer('its list of tools is not a list');
  if (tools.size + listed.length > most) {
    throw toolFailure('TOO_MANY_TOOLS', `The MCP server offers more than ${most} tools.`);
  }
  for (const item of listed as unknown[]) {
    const tool = readTool(item);
    if (tools.has(tool.name)) throw invalidAnswer(`it lists ${JSON.stringify(tool.name)} twice`);
    tools.set(tool.name, tool);
    if (isForTasks(item)) asTasks.add(tool.name);
  }
}

function isForTasks(item: unknown): boolean {
  const execution = isJsonObject(item) ? item['execution'] : undefined;
  return isJsonObject(execution) && execution['taskSupport'] === 'required';
}

function readTool(item: unknown): McpTool {
  if (!isJsonObject(item)) throw invalidAnswer('one of its tools is not an object');
  const { name, title, description, inputSchema, outputSchema, annotations } = item;
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_CHARS) {
    throw invalidAnswer(`one of its tools has no name of 1 to ${MAX_NAME_CHARS} characters`);
  }
  const wrong = (field: string) => invalidAnswer(`its tool ${JSON.stringify(name)} has a bad ${field}`);
  if (!isJsonObject(inputSchema)) throw wrong('inputSchema');
  if (outputSchema !== undefined && !isJsonObject(outputSchema)) throw wrong('outputSchema');
  if (annotations !== undefined && !isJsonObject(annotations)) throw wrong('annotations');
  if (title !== undefined && typeof title !== 'string') throw wrong('title');
  if (description !== undefined && typeof description !== 'string') throw wrong('description');
  // Half a character has no canonical form, and with it a definition no hash.
  if (hasLoneSurrogate(item)) throw wrong('character');
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}

function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => !key.isWellFormed() || hasLoneSurrogate(member));
}

function shorter(known: number | undefined, said: unknown): number | undefined {
  if (typeof said !== 'number' || !Number.isFinite(said)) return known;
  return Math.min(known ?? MAX_TTL_MS, Math.max(0, said));
}
