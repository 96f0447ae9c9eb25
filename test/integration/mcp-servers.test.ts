// The adapter of McpServers against real servers: everything and filesystem in the sandbox, both protocol eras, HTTP.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import type { McpLog, McpProgress, McpServer } from '../../src/ports/egress/mcp-servers.ts';
import { makeServer } from '../fixtures/mcp/era-server.js';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import {
  callTool,
  EVERYTHING,
  FILESYSTEM,
  FIXTURES,
  hostileServer,
  McpBench,
  nodeServer,
  textOf,
} from '../helpers/mcp-kit.ts';
import { eventually } from '../helpers/eventually.ts';

const bench = new McpBench();
const loopback = new LoopbackServers();
afterAll(async () => {
  await bench.close();
  await loopback.close();
});

const soon = () => AbortSignal.timeout(20_000);

describe('server-everything, on stdio in the sandbox', () => {
  let server: McpServer;
  beforeAll(() => {
    server = bench.open(nodeServer(EVERYTHING, ['stdio'], { env: { GREETING: 'hello' } }));
  });

  it('lists its tools, with their schemas', async () => {
    const { server: who, protocolVersion, tools } = await server.listTools(soon());
    expect(who.name).toContain('everything');
    expect(protocolVersion).toBe('2025-11-25');
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({ inputSchema: { type: 'object' } });
    expect(tools.find(({ name }) => name === 'get-structured-content')?.outputSchema).toBeDefined();
  });

  it('answers with text, structured content and images', async () => {
    expect(await callTool(server, 'echo', { message: 'hi' })).toEqual({
      content: [{ type: 'text', text: 'Echo: hi' }],
      isError: false,
    });
    const weather = await callTool(server, 'get-structured-content', { location: 'New York' });
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
    const image = await callTool(server, 'get-tiny-image');
    expect(image.content).toContainEqual(expect.objectContaining({ type: 'image', mimeType: 'image/png' }));
  });

  it('is handed the variables it was given and no others', async () => {
    const said = textOf(await callTool(server, 'get-env'));
    const env = JSON.parse(said) as JsonObject;
    expect(env).toMatchObject({ GREETING: 'hello', HOME: '/tmp', LANG: 'C.UTF-8' });
    // PWD is what the sandbox itself sets.
    expect(Object.keys(env).toSorted()).toEqual(
      expect.arrayContaining(['GREETING', 'HOME', 'LANG', 'PATH', 'TMPDIR']),
    );
    expect(Object.keys(env).filter((name) => !/^(GREETING|HOME|LANG|PATH|TMPDIR|PWD)$/.test(name))).toEqual(
      [],
    );
  });

  it('runs many calls at once over one process', async () => {
    const before = bench.children.length;
    const sums = await Promise.all(
      Array.from({ length: 50 }, (_, n) => callTool(server, 'get-sum', { a: n, b: 1 })),
    );
    expect(sums.map(({ content }) => content[0]?.['text'])).toEqual(
      Array.from({ length: 50 }, (_, n) => expect.stringContaining(`is ${n + 1}`)),
    );
    expect(bench.children.length).toBe(before);
  });

  it('tells of its progress', async () => {
    const told: McpProgress[] = [];
    const onProgress = (progress: McpProgress) => void told.push(progress);
    await callTool(server, 'trigger-long-running-operation', { duration: 0.6, steps: 3 }, { onProgress });
    expect(told.map(({ progress }) => progress)).toEqual([1, 2, 3]);
  });
});

describe('server-filesystem, on stdio in the sandbox', () => {
  const folder = join(bench.sandbox.dir, 'files');
  let server: McpServer;
  beforeAll(() => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'note.txt'), 'buy milk');
    writeFileSync(join(bench.sandbox.dir, 'outside.txt'), 'not for you');
    server = bench.open(
      nodeServer(FILESYSTEM, [folder], { readable: [join(FIXTURES, '../../../node_modules'), folder] }),
    );
  });

  it('reads a file in the folder that it was given', async () => {
    const { content, isError } = await callTool(server, 'read_text_file', { path: join(folder, 'note.txt') });
    expect(isError).toBe(false);
    expect(content[0]).toMatchObject({ type: 'text', text: 'buy milk' });
  });

  it('reports its own error as a result', async () => {
    const result = await callTool(server, 'read_text_file', { path: join(bench.sandbox.dir, 'outside.txt') });
    expect(result.isError).toBe(true);
  });

  it('cannot write what it may only read', async () => {
    const result = await callTool(server, 'write_file', { path: join(folder, 'new.txt'), content: 'x' });
    expect(result.isError).toBe(true);
    expect(result.content[0]?.['text']).toMatch(/EROFS|read-only/i);
  });
});

interface Era {
  readonly version: string;
  readonly connection: () => Promise<JsonObject>;
  readonly heard: () => string;
}

const overHttp: string[] = [];

async function httpEndpoint(legacy: boolean): Promise<JsonObject> {
  const handler = createMcpHandler(() => makeServer((word) => void overHttp.push(word)));
  const node = toNodeHandler(handler);
  const url = await loopback.listen(
    createServer((request, response) => {
      // What servers older than 2026-07-28 do with its first question.
      if (legacy && request.headers['mcp-method'] !== undefined) response.writeHead(400).end();
      else void node(request, response);
    }),
  );
  return { url: `${url}/mcp`, allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
}

const script = join(FIXTURES, 'era-server.js');
const printed = () => JSON.stringify(bench.log.lines.map(({ fields }) => fields['output']));

const ERAS: readonly (readonly [string, Era])[] = [
  [
    'stdio, 2025-11-25',
    { version: '2025-11-25', connection: async () => nodeServer(script, ['stdio']), heard: printed },
  ],
  [
    'stdio, 2026-07-28',
    {
      version: '2026-07-28',
      connection: async () => nodeServer(script, ['stdio'], { protocol: 'auto' }),
      heard: printed,
    },
  ],
  [
    'HTTP, 2025-11-25',
    { version: '2025-11-25', connection: () => httpEndpoint(true), heard: () => overHttp.join('\n') },
  ],
  [
    'HTTP, 2026-07-28',
    { version: '2026-07-28', connection: () => httpEndpoint(false), heard: () => overHttp.join('\n') },
  ],
];

describe.each(ERAS)('a server over %s', (_, era) => {
  let server: McpServer;
  beforeAll(async () => {
    server = bench.open(await era.connection());
  });

  it('agrees on the protocol and lists its tools', async () => {
    const listing = await server.listTools(soon());
    expect(listing).toMatchObject({
      server: { name: 'both eras', version: '1.2.3' },
      protocolVersion: era.version,
    });
    expect(listing.tools.find(({ name }) => name === 'sum')).toEqual({
      name: 'sum',
      title: 'Sum',
      description: 'Adds a and b.',
      inputSchema: expect.objectContaining({ required: ['a', 'b'] }),
      outputSchema: expect.objectContaining({ required: ['sum'] }),
      annotations: { readOnlyHint: true },
    });
  });

  it('answers calls', async () => {
    const { content, structuredContent } = await callTool(server, 'sum', { a: 2, b: 3 });
    expect({ content, structuredContent }).toEqual({
      content: [{ type: 'text', text: '{"sum":5}' }],
      structuredContent: { sum: 5 },
    });
    expect(await callTool(server, 'fail')).toMatchObject({ isError: true });
  });

  it('learns that a call was cancelled', async () => {
    const before = era.heard().split('was cancelled').length;
    const began = era.heard().split('began').length;
    const abort = new AbortController();
    const call = callTool(server, 'wait', {}, { signal: abort.signal });
    await eventually(() => expect(era.heard().split('began').length).toBe(began + 1));
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await eventually(() => expect(era.heard().split('was cancelled').length).toBe(before + 1));
  });

  it('tells of its progress, and is told of the trace', async () => {
    const told: McpProgress[] = [];
    await callTool(server, 'count', {}, { onProgress: (progress) => void told.push(progress) });
    expect(told[0]).toEqual({ progress: 1, total: 4, message: 'step 1' });
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    const said = textOf(await callTool(server, 'meta', {}, { meta: { traceparent } }));
    expect(JSON.parse(said)).toMatchObject({ traceparent });
  });

  it('tells what it logs to the call that is alone on its connection', async () => {
    const told: McpLog[] = [];
    const listening = () => callTool(server, 'log', {}, { onLog: (log) => void told.push(log) });
    await listening();
    await eventually(() => expect(told).toEqual([{ level: 'warn', message: 'fixture: {"step":1}' }]));
  });

  it('an unknown tool is the server’s own error', async () => {
    await expect(callTool(server, 'nothing')).rejects.toMatchObject({ name: 'ToolFailure', origin: 'tool' });
  });
});

/** Over HTTP, one of 2025 needs a session to hear an answer by, and this one has none. */
const ASKING = ERAS.filter(([name]) => name !== 'HTTP, 2025-11-25');

it.each(ASKING)(
  'a server over %s asks in the middle of a call, and the failure says what',
  async (_, era) => {
    const failure = await callTool(bench.open(await era.connection()), 'ask').catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      reason: 'INPUT_REQUIRED',
      message: expect.stringContaining('Which city?'),
      details: { asked: [{ message: 'Which city?', schema: { required: ['city'] } }] },
    });
  },
);

it('a server that takes a request and says nothing is not waited for when it is closed', async () => {
  const asked = Promise.withResolvers<void>();
  const origin = await loopback.http(() => asked.resolve());
  const server = bench.open({
    url: `${origin}/mcp`,
    connect_timeout_ms: 300_000,
    allow_private: ['127.0.0.0/8'],
    allow_ports: ['1-65535'],
  });
  const listing = server.listTools(new AbortController().signal).catch((error: unknown) => error);
  await asked.promise;
  await server.close();
  expect(await listing).toMatchObject({ type: 'UNAVAILABLE', reason: 'DRAINING' });
  expect(bench.log.lines.filter(({ message }) => message === 'an MCP server failed')).toEqual([]);
});

describe('a server that is shared', () => {
  it('is one process for the same settings, and ends with the last who opened it', async () => {
    const before = bench.children.length;
    const [one, other] = [bench.open(hostileServer('honest')), bench.open(hostileServer('honest'))];
    await Promise.all([callTool(one, 'do'), callTool(other, 'do')]);
    expect(bench.children.length).toBe(before + 1);
    const child = bench.children.at(-1);
    await one.close();
    await expect(callTool(other, 'do')).resolves.toMatchObject({ isError: false });
    await other.close();
    await expect(child?.exited).resolves.toBeDefined();
  });

  it('is started anew by the call after its crash, and says that its tools may have changed', async () => {
    const server = bench.open(hostileServer('crash-once'));
    const changed = vi.fn<() => void>();
    server.onToolsChanged(changed);
    await callTool(server, 'do');
    await expect(callTool(server, 'do', { crash: true })).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'CONNECTION_LOST',
    });
    await expect(callTool(server, 'do')).resolves.toMatchObject({ isError: false });
    await eventually(() => expect(changed).toHaveBeenCalledOnce());
    expect(bench.metrics.value('ute_mcp_connections_lost_total{stdio}')).toBe(1);
    await server.close();
  });

  it('tells everybody a few times at most that its tools have changed, however often it says so', async () => {
    const server = bench.open(hostileServer('change-flood'));
    const changed = vi.fn<() => void>();
    server.onToolsChanged(changed);
    await callTool(server, 'do');
    await eventually(() => expect(changed).toHaveBeenCalled());
    expect(changed.mock.calls.length).toBeLessThan(100);
    await server.close();
  });
});
