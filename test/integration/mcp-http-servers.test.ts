// Servers over HTTP as they are found: with sessions that a restart forgets, behind a redirect, with tasks, on the transport of 2024.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../helpers/free-port.ts';
import type { McpServer } from '../../src/ports/egress/mcp-servers.ts';
import { makeServer } from '../fixtures/mcp/era-server.js';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { callTool, EVERYTHING, McpBench, nodeServer, textOf } from '../helpers/mcp-kit.ts';

const LOOPBACK = { allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };

let bench: McpBench;
let loopback: LoopbackServers;
let running: ChildProcess | undefined;

beforeEach(() => {
  bench = new McpBench();
  loopback = new LoopbackServers();
});
afterEach(async () => {
  await bench.close();
  await stop();
  await loopback.close();
});

/** `server-everything` of npm, with sessions of its own. */
async function start(transport: 'streamableHttp' | 'sse', port: number): Promise<void> {
  running = spawn(process.execPath, [EVERYTHING, transport], { env: { PORT: String(port) }, stdio: 'pipe' });
  const { stdout, stderr } = running;
  stdout?.resume();
  await new Promise<void>((isReady) =>
    stderr?.on('data', (chunk: Buffer) => /listening|running on port/.test(String(chunk)) && isReady()),
  );
}

async function stop(): Promise<void> {
  const child = running;
  running = undefined;
  if (child === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const sum = async (server: McpServer) => textOf(await callTool(server, 'get-sum', { a: 2, b: 40 }));

describe('a server that is started again', () => {
  it('has forgotten its sessions, and its callers do not notice: many calls at once, too', async () => {
    const port = await freePort();
    await start('streamableHttp', port);
    const server = bench.open({ url: `http://127.0.0.1:${port}/mcp`, ...LOOPBACK });
    expect(await sum(server)).toContain('42');
    await stop();
    await start('streamableHttp', port);
    const sums = await Promise.all(Array.from({ length: 5 }, () => sum(server)));
    expect(sums.every((text) => text.includes('42'))).toBe(true);
  });

  /** Forgets every session at `forget()`, and says so in words of its own. */
  async function forgetful(refuse: (response: ServerResponse, request: { id?: unknown }) => void) {
    let sessions = 0;
    let known = new Set<string>();
    const initialized: string[] = [];
    const url = await loopback.http(async (request, response) => {
      const body = await bodyOf(request);
      const message = (body === '' ? {} : JSON.parse(body)) as {
        id?: unknown;
        method?: string;
        params?: object;
      };
      const id = String(request.headers['mcp-session-id'] ?? '');
      const answer = (result: object, more: object = {}) => {
        response.writeHead(200, { 'content-type': 'application/json', ...more });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      };
      if (request.headers['mcp-method'] !== undefined) response.writeHead(400).end();
      else if (request.method !== 'POST') response.writeHead(405).end();
      else if (message.method === 'initialize') {
        sessions += 1;
        known.add(`s${sessions}`);
        initialized.push(`s${sessions}`);
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'forgetful', version: '1' },
        };
        answer(result, { 'mcp-session-id': `s${sessions}` });
      } else if (!known.has(id)) refuse(response, message);
      else if (message.id === undefined) response.writeHead(202).end();
      else if (message.method === 'ping') answer({});
      else if (JSON.stringify(message.params).includes('bad')) response.writeHead(400).end('no such city');
      else answer({ content: [{ type: 'text', text: id }] });
    });
    return { url: `${url}/mcp`, initialized, forget: () => (known = new Set()) };
  }

  const asJson = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const rpc = (id: unknown, code: number, message: string) => ({
    jsonrpc: '2.0',
    id: id ?? null,
    error: { code, message },
  });

  it.each<[string, Parameters<typeof forgetful>[0]]>([
    ['404', (response) => response.writeHead(404).end()],
    [
      '400 and "no valid session"',
      (response, { id }) =>
        asJson(response, 400, rpc(id, -32_000, 'Bad Request: No valid session ID provided')),
    ],
    ['400 and words of its own', (response) => response.writeHead(400).end('wer bist du?')],
    [
      'an error about sessions with 200',
      (response, { id }) => asJson(response, 200, rpc(id, -32_001, 'Session not found')),
    ],
  ])('says it by %s: one new session, and the call is made there', async (_, refuse) => {
    const { url, initialized, forget } = await forgetful(refuse);
    const server = bench.open({ url, ...LOOPBACK });
    expect(textOf(await callTool(server, 'where'))).toBe('s1');
    forget();
    expect(textOf(await callTool(server, 'where'))).toBe('s2');
    expect(initialized).toEqual(['s1', 's2']);
  });

  it('a 400 that means the call and not the session is the answer, and the session stays', async () => {
    const { url, initialized } = await forgetful((response) => response.writeHead(404).end());
    const server = bench.open({ url, ...LOOPBACK });
    await expect(callTool(server, 'where', { city: 'bad' })).rejects.toMatchObject({ reason: 'HTTP_400' });
    expect(textOf(await callTool(server, 'where'))).toBe('s1');
    expect(initialized).toEqual(['s1']);
  });
});

describe('a server that answers a call with an HTTP error', () => {
  it('is heard: the body reaches the caller, bounded and without the secrets of the connection', async () => {
    const secret = 'sk-live-0123456789abcdef';
    const url = await loopback.http(async (request, response) => {
      const body = await bodyOf(request);
      const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: unknown; method?: string };
      const answer = (status: number, said: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
      if (request.headers['mcp-method'] !== undefined) response.writeHead(400).end();
      else if (request.method !== 'POST') response.writeHead(405).end();
      else if (id === undefined) response.writeHead(202).end();
      else if (method === 'initialize')
        answer(200, {
          jsonrpc: '2.0',
          id,
          result: {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'busy', version: '1' },
          },
        });
      else answer(429, { title: 'Quota', detail: `used up for ${request.headers['authorization']}` });
    });
    const server = bench.open({ url: `${url}/mcp`, ...LOOPBACK, auth: { type: 'bearer', token: secret } });
    const failure: unknown = await callTool(server, 'find').catch((error: unknown) => error);
    expect(failure).toMatchObject({
      type: 'RATE_LIMIT',
      reason: 'HTTP_429',
      message: expect.stringMatching(/^The MCP server answered HTTP 429: Quota: used up for /),
      details: { status: 429, upstream: { untrusted: true, body: { title: 'Quota' } } },
    });
    expect(JSON.stringify([failure, (failure as Error).message])).not.toContain(secret);
  });
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

describe('a redirect', () => {
  async function redirecting(location: (origin: string) => string): Promise<McpServer> {
    const node = toNodeHandler(createMcpHandler(() => makeServer(() => undefined)));
    let origin = '';
    origin = await loopback.http((request, response) => {
      if (request.url === '/mcp') response.writeHead(307, { location: location(origin) }).end();
      else void node(request, response);
    });
    return bench.open({ url: `${origin}/mcp`, ...LOOPBACK });
  }

  it('to /mcp/ of the same origin is followed, as FastMCP has it', async () => {
    const server = await redirecting((origin) => `${origin}/mcp/`);
    expect(textOf(await callTool(server, 'echo', { n: 1 }))).toBe('{"n":1}');
  });

  it('to another origin is not followed', async () => {
    let asked = 0;
    const other = await loopback.http((_, response) => ((asked += 1), response.writeHead(500).end()));
    const server = await redirecting(() => `${other}/mcp`);
    await expect(callTool(server, 'echo', { n: 1 })).rejects.toMatchObject({
      reason: 'REDIRECT_REFUSED',
    });
    expect(asked).toBe(0);
  });
});

describe('the transport of 2024, HTTP with SSE', () => {
  it('is spoken where the server knows no other', async () => {
    const port = await freePort();
    await start('sse', port);
    const server = bench.open({ url: `http://127.0.0.1:${port}/sse`, ...LOOPBACK });
    expect((await server.listTools(AbortSignal.timeout(20_000))).server.name).toContain('everything');
    expect(await sum(server)).toContain('42');
    const sums = await Promise.all(Array.from({ length: 5 }, () => sum(server)));
    expect(sums).toHaveLength(5);
  });

  it('a server that is started again on it is connected to again', async () => {
    const port = await freePort();
    await start('sse', port);
    const server = bench.open({ url: `http://127.0.0.1:${port}/sse`, ...LOOPBACK });
    expect(await sum(server)).toContain('42');
    await stop();
    await start('sse', port);
    await expect.poll(() => sum(server).catch(String)).toContain('42');
  });
});

describe('a tool that runs as a task alone', () => {
  it('is run as one, by a server that has them', async () => {
    const server = bench.open(nodeServer(EVERYTHING, ['stdio']));
    const { tools } = await server.listTools(AbortSignal.timeout(20_000));
    expect(tools.map(({ name }) => name)).toContain('simulate-research-query');
    const result = await callTool(
      server,
      'simulate-research-query',
      { topic: 'bees' },
      { signal: AbortSignal.timeout(50_000) },
    );
    expect(textOf(result)).toContain('bees');
  });

  it('is left out with a warning where the server does not have them', async () => {
    const url = await loopback.http(async (request, response) => {
      const body = await bodyOf(request);
      const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: unknown; method?: string };
      if (request.headers['mcp-method'] !== undefined) return response.writeHead(400).end();
      if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
      const inputSchema = { type: 'object' };
      const result =
        method === 'initialize'
          ? {
              protocolVersion: '2025-11-25',
              capabilities: { tools: {} },
              serverInfo: { name: 'x', version: '1' },
            }
          : {
              tools: [
                { name: 'now', inputSchema },
                { name: 'later', inputSchema, execution: { taskSupport: 'required' } },
              ],
            };
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    const server = bench.open({ url: `${url}/mcp`, ...LOOPBACK });
    const { tools } = await server.listTools(AbortSignal.timeout(20_000));
    expect(tools.map(({ name }) => name)).toEqual(['now']);
    expect(bench.log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', fields: { tools: ['later'] } }),
    );
  });
});
