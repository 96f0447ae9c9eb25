// A gateway that is killed with tasks in every state: another process on the same data goes on with each of them.
import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import { eventually } from '../helpers/eventually.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { DoorClient } from '../helpers/mcp-door-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const TOOLS = resolve(import.meta.dirname, '../fixtures/mcp-door/tasks.yaml');
const key = createApiKey();
const started: GatewayProcess[] = [];
let dir: string;
let env: Record<string, string>;

beforeEach(() => {
  dir = tempDir();
  const stored = {
    id: key.id,
    secret_sha256: key.secretHash.toString('hex'),
    tenant: 'acme',
    roles: ['admin'],
  };
  env = configured(dir, {
    auth: { keys: [stored] },
    approvals: { allow_self_approval: true },
    loaders: [{ type: 'yaml-file', paths: [TOOLS] }],
    async: { lease_ms: 1_500 },
  });
});

afterEach(async () => {
  for (const each of started.splice(0)) await each.end();
  removeDir(dir);
});

async function start() {
  const gateway = new GatewayProcess(dir, env);
  started.push(gateway);
  const { rest: url } = await gateway.ready();
  const client = new DoorClient({ url, key: key.text, era: 'legacy' });
  await client.initialize();
  const status = async (taskId: string) =>
    ((await client.ask('tasks/get', { taskId })).result ?? {}) as JsonObject;
  return { gateway, client, url, status };
}

it('what has ended is there, what waits is approved and runs, and what ran is not run twice', async () => {
  const first = await start();
  const begin = async (name: string, args: JsonObject) => {
    const { result } = await first.client.ask('tools/call', { name, arguments: args, task: {} });
    return (result?.['task'] as { taskId?: string } | undefined)?.taskId ?? '';
  };
  const done = await begin('adds', { a: 1, b: 2 });
  const waiting = await begin('erases', { what: 'it' });
  const running = await begin('lasts', {});
  await eventually(async () => (await first.status(done))['status'] === 'completed');
  await eventually(async () => (await first.status(running))['statusMessage'] === 'The call is running.');
  process.kill(first.gateway.pid, 'SIGKILL');
  await first.gateway.exited;

  const { client, url, status } = await start();
  const result = async (taskId: string) => (await client.ask('tasks/result', { taskId })).result;
  expect(await result(done)).toMatchObject({ structuredContent: { sum: 3 } });
  const { statusMessage } = await status(waiting);
  const [, approval = ''] = /approvals\/([0-9a-f-]{36})/.exec(statusMessage as string) ?? [];
  const { status: decided } = await fetch(`${url}/v1/approvals/${approval}/decision`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key.text}` },
    body: '{"decision":"approve"}',
  });
  expect(decided).toBe(200);
  expect(await result(waiting)).toMatchObject({ structuredContent: { erased: 'it' } });
  expect(await result(running)).toMatchObject({
    isError: true,
    _meta: { 'io.ute/error': { type: 'OUTCOME_UNKNOWN' } },
  });
});
