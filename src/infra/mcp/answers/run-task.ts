// A call that runs as a task (2025-11-25): asked for, looked after until it has ended, and its result fetched.
import type {
  CallToolRequestParams,
  Client,
  RequestOptions,
  StandardSchemaV1,
} from '@modelcontextprotocol/client';
import { isJsonObject } from '../../../contract/json.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { pause } from '../../../lib/timers/pause.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { McpResult } from '../../../ports/egress/mcp-servers.ts';
import { inputRequired, invalidAnswer } from '../failures.ts';
import { ANYTHING } from './anything.ts';

/** As long as a call may take at all, and some time to fetch what came of it. */
const TTL_MS = 900_000;
const LEAST_POLL_MS = 250;
const MOST_POLL_MS = 5_000;
const CANCEL_MS = 5_000;

export interface TaskNeeds {
  readonly client: Client;
  readonly clock: Clock;
  readonly result: StandardSchemaV1<unknown, McpResult>;
}

/** Whether the server runs calls of tools as tasks. */
export function hasTasks(client: Client): boolean {
  const { tasks } = (client.getServerCapabilities() ?? {}) as { tasks?: unknown };
  return client.getProtocolEra() === 'legacy' && memberAt(tasks, 'requests', 'tools', 'call') !== undefined;
}

function memberAt(value: unknown, ...path: readonly string[]): unknown {
  let each = value;
  for (const name of path) each = isJsonObject(each) ? each[name] : undefined;
  return each;
}

export async function runTask(
  { client, clock, result }: TaskNeeds,
  params: CallToolRequestParams,
  options: RequestOptions,
): Promise<McpResult> {
  const started = await client.request(
    { method: 'tools/call', params: { ...params, task: { ttl: TTL_MS } } },
    ANYTHING,
    options,
  );
  let task = taskIn(started['task']);
  const { taskId } = task;
  try {
    while (task.status === 'working') {
      await pause(clock, task.pollMs, options.signal ?? new AbortController().signal);
      options.signal?.throwIfAborted();
      task = taskIn(await client.request({ method: 'tasks/get', params: { taskId } }, ANYTHING, options));
    }
    if (task.status === 'input_required') throw inputRequired([]);
    if (task.status === 'cancelled')
      throw toolFailure('TOOL_ERROR', 'The MCP server cancelled the task.', { origin: 'tool' });
    return await client.request({ method: 'tasks/result', params: { taskId } }, result, options);
  } catch (error) {
    // Nobody waits for it any more.
    if (task.status === 'working' || task.status === 'input_required')
      client
        .request({ method: 'tasks/cancel', params: { taskId } }, ANYTHING, { timeout: CANCEL_MS })
        .catch(() => undefined);
    throw error;
  }
}

interface Task {
  readonly taskId: string;
  readonly status: string;
  readonly pollMs: number;
}

function taskIn(value: unknown): Task {
  const { taskId, status, pollInterval } = isJsonObject(value) ? value : {};
  if (typeof taskId !== 'string' || typeof status !== 'string') throw invalidAnswer('its task is none');
  const wanted = typeof pollInterval === 'number' && pollInterval > 0 ? pollInterval : 1_000;
  return { taskId, status, pollMs: Math.min(MOST_POLL_MS, Math.max(LEAST_POLL_MS, wanted)) };
}
