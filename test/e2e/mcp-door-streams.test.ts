// What the MCP door tells before an answer and beside it: progress, log messages, changes of the tools; and how a call is ended.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let gateway: RunningGateway;
let dir: string;
const TOOLS = 'test/fixtures/mcp-door/streams.yaml';

beforeAll(async () => {
  dir = tempDir();
  const fixtures = join(import.meta.dirname, '../fixtures/mcp-door');
  writeFileSync(join(dir, 'streams.js'), readFileSync(join(fixtures, 'streams.js')));
  writeFileSync(join(dir, 'tools.yaml'), readFileSync(TOOLS));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

async function clientOf(mode: 'auto' | 'legacy') {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${gateway.keys.agent.text}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', gateway.url), { requestInit }));
  return client;
}

/** As the door writes it, without a client's eyes. */
async function post(
  method: string,
  params: object,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
) {
  const isModern = headers['mcp-protocol-version'] === '2026-07-28';
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const { _meta = {} } = params as { _meta?: object };
  const body = {
    jsonrpc: '2.0',
    id: 7,
    method,
    params: { ...params, ...(isModern && { _meta: { ...envelope, ..._meta } }) },
  };
  return fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${gateway.keys.agent.text}`,
      ...headers,
    },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });
}

const modernCall = (name: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
});

async function sessionOf(capabilities: object = {}): Promise<string> {
  const clientInfo = { name: 'test', version: '1.0.0' };
  const answer = await post('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
  return answer.headers.get('mcp-session-id') ?? '';
}

const running = async () => {
  const headers = { authorization: `Bearer ${gateway.keys.admin.text}` };
  const response = await fetch(`${gateway.url}/v1/admin/running-calls`, { headers });
  return response.text();
};

describe.each(['auto', 'legacy'] as const)('the official client, %s', (mode) => {
  it('hears of progress and of partial results, in their order', async () => {
    const client = await clientOf(mode);
    const heard: unknown[] = [];
    const onprogress = (progress: object) => void heard.push(progress);
    const answer = await client.callTool({ name: 'tells', arguments: {} }, { onprogress });
    expect(answer.content).toEqual([{ type: 'text', text: 'done' }]);
    expect(heard).toMatchObject([
      { progress: 0.25, total: 1, message: 'a quarter' },
      { progress: expect.closeTo(0.25, 5) },
      { progress: 1 },
    ]);
    await client.close();
  });

  it('is told when the tools change', async () => {
    const client = await clientOf(mode);
    let changes = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1));
    if (mode === 'auto') await client.listen({ toolsListChanged: true });
    const file = join(dir, 'tools.yaml');
    await eventually(async () => {
      writeFileSync(
        file,
        readFileSync(TOOLS, 'utf8').replace('Tells what', `Tells (${changes} ${mode} ${Date.now()}) what`),
      );
      const headers = { authorization: `Bearer ${gateway.keys.admin.text}` };
      await fetch(`${gateway.url}/v1/admin/reload`, { method: 'POST', headers });
      return changes > 0;
    });
    expect(changes).toBeGreaterThan(0);
    await client.close();
  });
});

it.each(['GET', 'subscriptions/listen'])(
  'a key that is revoked hears nothing more by a stream that is open: %s',
  async (by) => {
    const admin = { authorization: `Bearer ${gateway.keys.admin.text}`, 'content-type': 'application/json' };
    const manage = (method: string, path: string, body?: object) =>
      fetch(`${gateway.url}${path}`, { method, headers: admin, ...(body && { body: JSON.stringify(body) }) });
    const made = await manage('POST', '/v1/keys', { name: 'listener', roles: ['agent'] });
    const { id, key } = (await made.json()) as { id: string; key: string };
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${key}` };
    const versions = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': by };
    const stream =
      by === 'GET'
        ? await fetch(`${gateway.url}/mcp`, { headers })
        : await post(
            by,
            { notifications: { toolsListChanged: true } },
            { ...headers, accept: 'application/json, text/event-stream', ...versions },
          );
    expect(stream.status).toBe(200);
    let told = '';
    const over = (async () => {
      for await (const piece of stream.body ?? []) told += Buffer.from(piece).toString();
    })().catch(() => undefined);
    const changed = (state: string) => manage('POST', `/v1/admin/tools/tells/${state}`);
    await changed('disable');
    await eventually(() => told.includes('list_changed'));
    await manage('DELETE', `/v1/keys/${id}`);
    told = '';
    await changed('enable');
    await over;
    expect(told).not.toContain('list_changed');
  },
);

describe('log messages', () => {
  it('come where a request asks for them, from that level on, and not otherwise', async () => {
    const silent = await post('tools/call', { name: 'tells' }, modernCall('tells'));
    expect(silent.headers.get('content-type')).toContain('application/json');
    const _meta = { 'io.modelcontextprotocol/logLevel': 'warning' };
    const text = await (await post('tools/call', { name: 'tells', _meta }, modernCall('tells'))).text();
    expect(text).toContain('"level":"warning","data":"careful"');
    expect(text).not.toContain('"level":"info"');
  });

  it('come to a session of 2025 that has set a level', async () => {
    const headers = { 'mcp-session-id': await sessionOf() };
    expect(await (await post('tools/call', { name: 'tells' }, headers)).text()).not.toContain('careful');
    expect((await post('logging/setLevel', { level: 'debug' }, headers)).status).toBe(200);
    expect(await (await post('tools/call', { name: 'tells' }, headers)).text()).toContain('careful');
    expect(await (await post('logging/setLevel', { level: 'loud' }, headers)).json()).toMatchObject({
      error: { code: -32_602 },
    });
    expect(await (await post('logging/setLevel', { level: 'debug' })).json()).toMatchObject({
      error: { code: -32_600 },
    });
  });
});

describe('a call is ended', () => {
  it('by closing its connection', async () => {
    const gone = new AbortController();
    const call = post('tools/call', { name: 'waits' }, modernCall('waits'), gone.signal).catch(
      (error: unknown) => error,
    );
    await eventually(async () => (await running()).includes('waits'), 'the call runs');
    gone.abort();
    expect(await call).toBeInstanceOf(Error);
    await eventually(async () => !(await running()).includes('waits'), 'the call has ended');
  });

  it('by notifications/cancelled of its own session, with its own credential, and no other', async () => {
    const headers = { 'mcp-session-id': await sessionOf() };
    const call = post('tools/call', { name: 'waits' }, headers);
    await eventually(async () => (await running()).includes('waits'), 'the call runs');
    const cancel = (more: Record<string, string>) =>
      fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${gateway.keys.agent.text}`,
          ...headers,
          ...more,
        },
        body: '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
      });
    expect((await cancel({ 'mcp-session-id': await sessionOf() })).status).toBe(202);
    expect((await cancel({ authorization: `Bearer ${gateway.keys.other.text}` })).status).toBe(202);
    expect(await running()).toContain('waits');
    await cancel({});
    const answer = await call;
    expect([answer.status, await answer.text()]).toEqual([202, '']);
    await eventually(async () => !(await running()).includes('waits'), 'the call has ended');
  });

  it('a session that is none is told to begin anew', async () => {
    expect((await post('tools/list', {}, { 'mcp-session-id': 'made-up' })).status).toBe(404);
  });
});
