// `ute mcp`: clients that start their servers reach a running gateway: the official one in both eras, and lines by hand.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/cli/main.js');
let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    tools: [
      'test/fixtures/mcp-door/tools.yaml',
      'test/fixtures/mcp-door/streams.yaml',
      'test/fixtures/e2e/tools.yaml',
    ],
  });
});

afterAll(() => gateway?.stop());

const argv = (...more: string[]) => [PROGRAM, 'mcp', '--url', gateway.url, ...more];
const env = () => ({ PATH: process.env['PATH'] ?? '', UTE_API_KEY: gateway.keys.agent.text });

async function clientOf(mode: 'auto' | 'legacy', ...more: string[]) {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: argv(...more), env: env() }),
  );
  return client;
}

/** As it comes: the client forgets whom to tell once it reads an answer, which may come in the same piece. */
function progressOf({ transport }: Client): readonly unknown[] {
  const heard: unknown[] = [];
  const handle = transport?.onmessage;
  if (transport === undefined || handle === undefined) throw new Error('the client is not connected');
  const onmessage: typeof handle = (message, extra) => {
    if ('method' in message && message.method === 'notifications/progress') heard.push(message);
    handle(message, extra);
  };
  Object.assign(transport, { onmessage });
  return heard;
}

describe.each(['auto', 'legacy'] as const)('the official client, %s', (mode) => {
  it('lists tools, calls them, hears of their progress, and speaks for the agent of the command line', async () => {
    const client = await clientOf(mode, '--context', 'agent_id=a1', '--context', 'mode=voice');
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25');
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('forecast');
    const who = await client.callTool({ name: 'whoami', arguments: {} });
    expect(who.structuredContent).toMatchObject({ tenant: 'acme', agent: 'a1', mode: 'voice' });
    // Of headers the client knows nothing: the program says them for it.
    const routed = { name: 'routed', arguments: { region: 'größe', place: { floor: 3 } } };
    for (let times = 0; times < 2; times += 1)
      expect(await client.callTool(routed)).toMatchObject({ content: [{ text: 'größe 3' }] });
    const heard = progressOf(client);
    await client.callTool({ name: 'tells', arguments: {} }, { onprogress: () => undefined });
    expect(heard).toHaveLength(3);
    await expect(client.callTool({ name: 'nobody', arguments: {} })).rejects.toThrow(
      'There is no tool of this name.',
    );
    await client.close();
  });

  it('ends a call that it waits for no more', async () => {
    const client = await clientOf(mode);
    const gone = new AbortController();
    const call = client
      .callTool({ name: 'waits', arguments: {} }, { signal: gone.signal })
      .catch((error: unknown) => error);
    await eventually(async () => (await running()).includes('waits'), 'the call runs');
    gone.abort();
    expect(await call).toBeInstanceOf(Error);
    await eventually(async () => !(await running()).includes('waits'), 'the call has ended');
    await client.close();
  });
});

async function running(): Promise<string> {
  const headers = { authorization: `Bearer ${gateway.keys.admin.text}` };
  return (await fetch(`${gateway.url}/v1/admin/running-calls`, { headers })).text();
}

/** What a program without the key, or without a gateway, answers to lines. */
async function answers(lines: readonly string[], count: number, more: { url?: string; key?: string } = {}) {
  const { url = gateway.url, key = gateway.keys.agent.text } = more;
  const child = spawn(process.execPath, [PROGRAM, 'mcp', '--url', url], {
    env: { PATH: process.env['PATH'] ?? '', UTE_API_KEY: key },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(lines.map((line) => `${line}\n`).join(''));
  const told: Record<string, unknown>[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(JSON.parse(line) as Record<string, unknown>);
    if (told.length === count) break;
  }
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number];
  return { told, code };
}

describe('lines', () => {
  const ping = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });

  it('are answered each under its own id, broken ones as such; the program ends with its input', async () => {
    const { told, code } = await answers(['', '{"jsonrpc"', ping(1), ping('two')], 3);
    expect(told).toContainEqual(
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32_700 }) }),
    );
    expect(told).toContainEqual({ jsonrpc: '2.0', id: 1, result: {} });
    expect(told).toContainEqual({ jsonrpc: '2.0', id: 'two', result: {} });
    expect(code).toBe(0);
  });

  it('that end with the input are answered before the program ends', async () => {
    const child = spawn(process.execPath, argv(), { env: env(), stdio: ['pipe', 'pipe', 'inherit'] });
    const call = { method: 'tools/call', params: { name: 'forecast', arguments: { city: 'Vienna' } } };
    child.stdin.end(`${ping(1)}\n${JSON.stringify({ jsonrpc: '2.0', id: 2, ...call })}\n`);
    const [told, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const ids = told
      .split('\n')
      .flatMap((line) => (line === '' ? [] : (JSON.parse(line) as { id: number }).id));
    expect(new Set(ids)).toEqual(new Set([1, 2]));
    expect(code).toBe(0);
  });

  it('are answered where nobody lets them in, and where there is no gateway', async () => {
    const stranger = await answers([ping(1)], 1, { key: 'nobody' });
    expect(stranger.told).toMatchObject([{ id: 1, error: { data: { type: 'AUTH' } } }]);
    const alone = await answers([ping(2)], 1, { url: 'http://127.0.0.1:9' });
    expect(alone.told).toMatchObject([
      { id: 2, error: { code: -32_603, message: expect.stringContaining('cannot be reached') } },
    ]);
  });
});
