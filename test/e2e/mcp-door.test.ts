// The MCP door as clients meet it: the official one, in both eras of the protocol, and requests that no client would send.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { holdToDocument } from '../helpers/documented.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['config/tools.yaml', 'test/fixtures/e2e/tools.yaml', 'test/fixtures/mcp-door/tools.yaml'],
    roles: { caller: ['tools:call'] },
    more: {
      blind: { tenant: 'acme', roles: ['caller'] },
      several: { tenants: ['acme', 'umbrella'], roles: ['agent'] },
    },
    auth: {
      issuers: [
        { issuer: 'https://login.example.com', audience: 'ute', tenants: ['acme'], default_roles: ['agent'] },
      ],
    },
  });
});

afterAll(() => gateway?.stop());

const VERSIONS = { auto: '2026-07-28', legacy: '2025-11-25' } as const;
type Negotiation = keyof typeof VERSIONS;

async function clientOf(mode: Negotiation, { key = gateway.keys.agent.text, query = '', headers = {} } = {}) {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const url = new URL(`/mcp${query}`, gateway.url);
  const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

interface Sent {
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
}

/** As no client of the SDK would. */
async function send(body: string, { key = gateway.keys.agent.text, headers = {}, query = '' }: Sent = {}) {
  const response = await fetch(`${gateway.url}/mcp${query}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key !== '' && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body,
  });
  const { status } = response;
  const text = await response.text();
  const type = response.headers.get('content-type');
  holdToDocument({ method: 'POST', path: `/mcp${query}`, status, type, text });
  const message = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  return {
    status,
    headers: response.headers,
    ...(message as { id?: unknown; result?: never; error?: RpcError }),
  };
}

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly type?: string; readonly reason?: string };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const modern = (method: string, params: object = {}, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: META } });
const modernHeaders = (method: string, name?: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});
const legacy = (method: string, params: object = {}, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

describe.each(Object.keys(VERSIONS) as Negotiation[])('the official client, %s', (mode) => {
  it('speaks the revision of its era, and finds the name of the gateway', async () => {
    const client = await clientOf(mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(VERSIONS[mode]);
    expect(client.getServerVersion()).toMatchObject({ name: 'unified-tool-executor' });
    await client.close();
  });

  it('is listed the tools that it may call, with schemas and annotations', async () => {
    const client = await clientOf(mode);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain('calendar.list_events');
    expect(names).not.toContain('secretive');
    expect(names).toEqual(names.toSorted());
    expect(tools.find(({ name }) => name === 'forecast')).toMatchObject({
      title: 'The weather',
      icons: [{ src: 'https://example.com/sun.png', mimeType: 'image/png', sizes: ['48x48'] }],
      inputSchema: { type: 'object' },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    });
    await client.close();
  });

  it('is given what a tool answers as text and structured, which its output schema fits', async () => {
    const client = await clientOf(mode);
    const answer = await client.callTool({ name: 'forecast', arguments: { city: 'Berlin' } });
    expect(answer.structuredContent).toEqual({ city: 'Berlin', degrees: 21 });
    expect(answer.content).toEqual([{ type: 'text', text: '{"city":"Berlin","degrees":21}' }]);
    await client.close();
  });

  it('is given content blocks of tools that answer with them', async () => {
    const client = await clientOf(mode);
    const { content } = await client.callTool({ name: 'picture', arguments: {} });
    expect(content).toEqual([
      { type: 'text', text: 'A red point:' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ]);
    await client.close();
  });

  it('gets the error of a call as a result that a model can read', async () => {
    const client = await clientOf(mode);
    const answer = await client.callTool({ name: 'add', arguments: { a: 'x', b: 1 } });
    expect(answer.isError).toBe(true);
    expect(answer.content).toEqual([{ type: 'text', text: expect.stringContaining('/a must be') }]);
    expect(answer._meta?.['io.ute/error']).toMatchObject({ type: 'VALIDATION', reason: 'SCHEMA_MISMATCH' });
    await client.close();
  });

  it('is told of an approval where it is and how to go on', async () => {
    const client = await clientOf(mode);
    const { isError, content } = await client.callTool({
      name: 'delete_note',
      arguments: { note_id: 'note-1' },
    });
    expect(isError).toBe(true);
    expect(content).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(
          /A human has to approve this call: \/v1\/approvals\/.+confirmation_token/s,
        ),
      },
    ]);
    await client.close();
  });

  it('says parameters in headers where a tool asks for that', async () => {
    const client = await clientOf(mode);
    await client.listTools();
    for (const region of ['us-west1', ' größe\n'])
      expect(
        await client.callTool({ name: 'routed', arguments: { region, place: { floor: 3 } } }),
      ).toMatchObject({
        content: [{ type: 'text', text: `${region} 3` }],
      });
    await client.close();
  });

  it('without a credential is told at once', async () => {
    await expect(clientOf(mode, { key: 'nobody' })).rejects.toThrow(/401|Unauthorized|not valid/i);
  });
});

describe('for whom calls are made', () => {
  it('a header names the tenant of a key that serves several', async () => {
    const { key } = gateway.key('several');
    const client = await clientOf('auto', { key, headers: { 'x-ute-tenant': 'umbrella' } });
    const answer = await client.callTool({ name: 'whoami', arguments: {} });
    expect(answer.structuredContent).toMatchObject({ tenant: 'umbrella' });
    await client.close();
    expect(await send(legacy('tools/list'), { key })).toMatchObject({
      status: 400,
      error: { data: { reason: 'TENANT_REQUIRED' } },
    });
  });

  it('the query of the URL is the context of every call, and _meta that of one', async () => {
    const client = await clientOf('auto', { query: '?agent_id=a1&mode=voice' });
    const one = await client.callTool({ name: 'whoami', arguments: {} });
    expect(one.structuredContent).toMatchObject({ agent: 'a1', mode: 'voice', user: null });
    const _meta = { 'io.ute/context': { user_id: 'u1' } };
    const other = await client.callTool({ name: 'whoami', arguments: {}, _meta });
    expect(other.structuredContent).toMatchObject({ agent: 'a1', mode: 'voice', user: 'u1' });
    const contradiction = { 'io.ute/context': { agent_id: 'a2' } };
    const refused = await client.callTool({ name: 'whoami', arguments: {}, _meta: contradiction });
    expect(refused._meta?.['io.ute/error']).toMatchObject({ type: 'VALIDATION', reason: 'MALFORMED_CALL' });
    await client.close();
  });

  it.each([
    ['', 'I cannot reach the office just now.'],
    ['?language=de-AT', 'Das Büro ist gerade nicht zu erreichen.'],
    ['?language=fr', 'I cannot reach the office just now.'],
  ])('a safe answer is in the language of the URL: "%s"', async (query, message) => {
    const client = await clientOf('auto', { query });
    const answer = await client.callTool({ name: 'unreachable', arguments: {} });
    expect(answer).toMatchObject({
      structuredContent: { message },
      _meta: { 'io.ute/meta': { fallback: true } },
    });
    await client.close();
  });

  it('a safe answer is in the language of _meta, which is that of one call', async () => {
    const client = await clientOf('auto');
    const _meta = { 'io.ute/context': { language: 'de' } };
    const { structuredContent } = await client.callTool({ name: 'unreachable', arguments: {}, _meta });
    expect(structuredContent).toEqual({ message: 'Das Büro ist gerade nicht zu erreichen.' });
    await client.close();
  });

  it('a language that is none is refused', async () => {
    const client = await clientOf('auto', { query: '?language=a%20b' });
    const refused = await client.callTool({ name: 'whoami', arguments: {} });
    expect(refused._meta?.['io.ute/error']).toMatchObject({ type: 'VALIDATION', reason: 'MALFORMED_CALL' });
    await client.close();
  });

  it('a parameter of the URL that means nothing is refused', async () => {
    const answer = await send(legacy('tools/list'), { query: '?agentid=a1' });
    expect(answer).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('did you mean "agent_id"?') },
    });
  });

  it('a list needs tools:read', async () => {
    const { key } = gateway.key('blind');
    const answer = await send(legacy('tools/list'), { key });
    expect(answer).toMatchObject({ status: 403, error: { data: { reason: 'PERMISSION_MISSING' } } });
  });

  it('the door of a call is in its record', async () => {
    await send(legacy('tools/call', { name: 'add', arguments: { a: 1, b: 1 } }));
    const headers = { authorization: `Bearer ${gateway.keys.admin.text}` };
    await eventually(async () => {
      const response = await fetch(`${gateway.url}/v1/calls?page_size=100`, { headers });
      const { calls } = (await response.json()) as { calls: readonly { door: string }[] };
      expect(calls.map(({ door }) => door)).toContain('mcp');
    });
  });
});

describe('who is refused', () => {
  it('a stranger is told where tokens are given out, and what is wrong with the one it has', async () => {
    const without = await send(legacy('initialize'), { key: '' });
    const metadata = `resource_metadata="${gateway.url}/.well-known/oauth-protected-resource/mcp"`;
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, `Bearer ${metadata}`]);
    const wrong = await send(legacy('tools/call', { name: 'add', arguments: {} }), { key: 'nonsense' });
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer error="invalid_token", ${metadata}`,
    ]);
  });

  it.each(['', '/mcp'])('the metadata of RFC 9728 names the issuers%s', async (path) => {
    const response = await fetch(`${gateway.url}/.well-known/oauth-protected-resource${path}`);
    expect(await response.json()).toEqual({
      resource: `${gateway.url}/mcp`,
      authorization_servers: ['https://login.example.com'],
      bearer_methods_supported: ['header'],
      resource_name: 'UnifiedToolExecutor',
    });
  });

  it('a page of another origin is refused, whatever credential it has', async () => {
    const headers = { origin: 'https://evil.example.com' };
    expect(await send(legacy('tools/list'), { headers })).toMatchObject({ status: 403 });
    expect(await send(legacy('ping'), { headers: { origin: gateway.url } })).toMatchObject({ status: 200 });
  });

  it.each([
    ['broken JSON', '{"jsonrpc"', {}, 400, -32_700],
    ['no message', '[]', {}, 400, -32_600],
    ['a batch', `[${legacy('ping')}]`, {}, 400, -32_600],
    ['something else than JSON', 'x', { 'content-type': 'text/plain' }, 415, -32_600],
    ['a client that takes no JSON', legacy('ping'), { accept: 'text/html' }, 406, -32_600],
    ['a revision that nobody speaks', legacy('ping'), { 'mcp-protocol-version': '1999-01-01' }, 400, -32_022],
    ['a method that contradicts its header', modern('tools/list'), modernHeaders('tools/call'), 400, -32_020],
    [
      'a call without its name beside it',
      modern('tools/call', { name: 'add' }),
      modernHeaders('tools/call'),
      400,
      -32_020,
    ],
    [
      'a call with another name beside it',
      modern('tools/call', { name: 'add' }),
      modernHeaders('tools/call', 'echo'),
      400,
      -32_020,
    ],
    ['an unknown method', modern('tools/nonsense'), modernHeaders('tools/nonsense'), 404, -32_601],
    [
      'a cursor that is none',
      modern('tools/list', { cursor: '!' }),
      modernHeaders('tools/list'),
      200,
      -32_602,
    ],
    [
      'an id beyond all integers',
      legacy('ping', {}, 0).replace(':0,', ':90071992547409931,'),
      {},
      400,
      -32_600,
    ],
  ])('%s', async (_what, body, headers, status, code) => {
    expect(await send(body, { headers })).toMatchObject({ status, error: { code } });
    // Nobody learns more without a credential.
    expect(await send(body, { headers, key: '' })).toMatchObject({ status: status === 406 ? 406 : 401 });
  });

  it('a name that no header can hold comes in Base64', async () => {
    const headers = modernHeaders('tools/call', `=?base64?${Buffer.from('größe').toString('base64')}?=`);
    expect(await send(modern('tools/call', { name: 'größe' }), { headers })).toMatchObject({
      status: 200,
      error: { code: -32_602, data: { type: 'NOT_FOUND' } },
    });
  });

  it.each<[string, Record<string, string>, object, number]>([
    ['that say what they say', { 'Mcp-Param-Region': 'eu', 'Mcp-Param-Floor': '2' }, { floor: 2 }, 200],
    ['of which one is missing', { 'Mcp-Param-Region': 'eu' }, { floor: 2 }, 400],
    ['of which one says something else', { 'Mcp-Param-Region': 'us' }, {}, 400],
    ['of which one is not there', { 'Mcp-Param-Region': 'eu', 'Mcp-Param-Floor': '2' }, {}, 400],
  ])('a call with headers for arguments %s', async (_case, said, place, status) => {
    const headers = { ...modernHeaders('tools/call', 'routed'), ...said };
    const body = modern('tools/call', { name: 'routed', arguments: { region: 'eu', place } });
    const answer = await send(body, { headers });
    expect([answer.status, answer.error?.code]).toEqual([status, status === 200 ? undefined : -32_020]);
    expect((await send(body, { headers, key: '' })).status).toBe(401);
  });

  it('a method that is none is told what is taken', async () => {
    const response = await fetch(`${gateway.url}/mcp`, { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });

  it('GET is a stream of events, for who may', async () => {
    const listen = (headers: Record<string, string>) => fetch(`${gateway.url}/mcp`, { headers });
    expect((await listen({ accept: 'text/event-stream' })).status).toBe(401);
    expect((await listen({ accept: 'text/html' })).status).toBe(406);
  });

  it('what nobody waits for an answer to is taken', async () => {
    const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    expect(await send(body)).toMatchObject({ status: 202 });
    expect(await send(body, { key: '' })).toMatchObject({ status: 401 });
  });
});

it('a long list comes page by page, each tool once', async () => {
  const client = await clientOf('auto');
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    seen.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(new Set(seen).size).toBe(seen.length);
  await client.close();
});
