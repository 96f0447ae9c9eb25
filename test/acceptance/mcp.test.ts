// MCP servers that are out to get the gateway: each case is named by the attack.
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { cpuMsOf } from '../helpers/cpu-time.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { FakeOutside } from '../helpers/fake-outside.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { callTool, hostileServer, McpBench, textOf, type McpBenchOptions } from '../helpers/mcp-kit.ts';
import type { McpProgress, McpServer } from '../../src/ports/egress/mcp-servers.ts';
import { eventually } from '../helpers/eventually.ts';

const CANARY = 'canary-5f2b8c1d-in-the-gateways-environment';
const CONNECTED = { type: 'UNAVAILABLE', reason: 'CONNECTION_LOST' };

describe('a hostile server on stdio', () => {
  let bench: McpBench;
  const renew = (options?: McpBenchOptions) => (bench = new McpBench(options));
  beforeEach(() => void renew());
  afterEach(() => bench.close());
  const open = (mode: string, more?: JsonObject): McpServer => bench.open(hostileServer(mode, more));
  const wait = (ms: number) => ({ signal: AbortSignal.timeout(ms) });

  it('a server that never takes up the connection is given up after the connect timeout, and killed', async () => {
    const server = open('silent', { connect_timeout_ms: 500 });
    await expect(callTool(server, 'do')).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'CONNECT_TIMEOUT',
      partialSideEffects: false,
    });
    await expect(bench.children[0]?.exited).resolves.toBeDefined();
  });

  it('a server that never answers a call holds nobody beyond their own deadline, and no other call', async () => {
    const server = open('mute');
    await server.listTools(AbortSignal.timeout(20_000));
    await expect(callTool(server, 'do', {}, wait(150))).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(server.listTools(AbortSignal.timeout(5_000))).resolves.toMatchObject({
      tools: [{ name: 'do' }],
    });
    await eventually(() =>
      expect(bench.log.lines.some(({ fields }) => /cancelled/.test(String(fields['output'])))).toBe(true),
    );
  });

  it('a server that hangs is replaced, after a ping that it does not answer: the next call gets another process', async () => {
    const clock = new FakeClock();
    renew({ clock });
    const server = open('hang');
    expect(textOf(await callTool(server, 'do'))).toBeDefined();
    const over = new AbortController();
    const stuck = callTool(server, 'do', { hang: true }, { signal: over.signal }).catch(
      (error: unknown) => error,
    );
    const beside = callTool(server, 'do').catch((error: unknown) => error);
    await new Promise((sent) => setImmediate(sent));
    over.abort(new Error('late'));
    expect(await stuck).toMatchObject({ message: 'late' });
    await clock.advance(5_000);
    await clock.advance(1_000);
    // Whoever waits for it at that moment need not wait for the end of their own time.
    expect(await beside).toMatchObject(CONNECTED);
    await expect(bench.children[0]?.exited).resolves.toBeDefined();
    const again = callTool(server, 'do');
    await clock.advance(2_000);
    expect(textOf(await again)).toBeDefined();
    expect(bench.children).toHaveLength(2);
  });

  it('a server that is only slow with one call answers the ping and stays', async () => {
    const clock = new FakeClock();
    renew({ clock });
    const server = open('mute');
    await server.listTools(AbortSignal.timeout(20_000));
    for (let turn = 0; turn < 3; turn += 1) {
      const over = new AbortController();
      const stuck = callTool(server, 'do', {}, { signal: over.signal }).catch(() => 'given up');
      over.abort(new Error('late'));
      expect(await stuck).toBe('given up');
      // Its answer to this comes after its answer to the ping.
      await server.listTools(AbortSignal.timeout(20_000));
      await clock.advance(10_000);
    }
    await server.listTools(AbortSignal.timeout(20_000));
    expect(bench.children).toHaveLength(1);
  });

  it.each([
    ['20 MiB', 20 << 20, 'x'],
    ['a progress bar', 1, 'Loading...  '],
    ['what looks like a message', 3, '{"jsonrpc":"2.0",'],
  ])('junk of one call without a line end (%s) does not fail the next', async (_, junk, word) => {
    const server = open('junk');
    await expect(callTool(server, 'do', { junk, word }, wait(1_500))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    for (let turn = 0; turn < 3; turn += 1) expect(textOf(await callTool(server, 'do'))).toBe('done');
    expect(bench.children).toHaveLength(1);
  });

  it('a frame bomb, endless output without a line end, ends the connection without filling the memory', async () => {
    const before = process.memoryUsage().rss;
    const server = open('frame-bomb', { max_message_bytes: 1 << 20 });
    await expect(callTool(server, 'do')).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
    await expect(bench.children[0]?.exited).resolves.toBeDefined();
    expect(process.memoryUsage().rss - before).toBeLessThan(150 << 20);
  });

  it('endless lines of garbage end the connection', async () => {
    await expect(callTool(open('garbage-flood'), 'do')).rejects.toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'PROTOCOL_VIOLATION',
    });
    await expect(bench.children[0]?.exited).resolves.toBeDefined();
  });

  it('a few lines of debug output on stdout do not', async () => {
    await expect(callTool(open('garbage'), 'do')).resolves.toMatchObject({ isError: false });
    expect(bench.metrics.value('ute_mcp_unexpected_messages_total{garbage}')).toBe(50);
  });

  it('an answer that is too large fails its own call and no other', async () => {
    const server = open('large', { max_message_bytes: 100_000 });
    const [large, small] = await Promise.allSettled([
      callTool(server, 'do', { bytes: 200_000 }),
      callTool(server, 'do', { bytes: 10 }),
    ]);
    expect(large).toMatchObject({ reason: { type: 'OUTPUT_TOO_LARGE' } });
    expect(small).toMatchObject({ status: 'fulfilled' });
    expect(bench.children).toHaveLength(1);
  });

  it('answers with wrong, unknown, textual and missing ids reach nobody', async () => {
    const server = open('wrong-ids');
    const answers = await Promise.all([
      callTool(server, 'do'),
      callTool(server, 'do'),
      callTool(server, 'do'),
    ]);
    // An id that happens to be the next call's cannot be told from its answer: who asks a liar is lied to.
    expect(answers.every(({ content }) => content.length === 1)).toBe(true);
    const unknown = () => bench.metrics.value('ute_mcp_unexpected_messages_total{unknown_id}');
    await eventually(() => expect(unknown()).toBeGreaterThanOrEqual(18));
    expect(bench.children).toHaveLength(1);
  });

  it('an answer that was forged before the call was made is not its answer', async () => {
    const server = open('wrong-ids');
    await callTool(server, 'do');
    await eventually(() => expect(bench.metrics.value('ute_mcp_unexpected_messages_total{garbage}')).toBe(2));
    expect(await callTool(server, 'do')).toEqual({
      content: [{ type: 'text', text: 'done' }],
      isError: false,
    });
  });

  it('a flood of answers that nobody waits for ends the connection', async () => {
    await expect(callTool(open('wrong-id-flood'), 'do')).rejects.toMatchObject({
      reason: 'PROTOCOL_VIOLATION',
    });
  });

  it('of duplicate answers the first counts', async () => {
    const server = open('duplicates');
    expect((await callTool(server, 'do')).content).toEqual([{ type: 'text', text: 'first' }]);
    expect((await callTool(server, 'do')).content).toEqual([{ type: 'text', text: 'first' }]);
    expect(bench.children).toHaveLength(1);
  });

  it('a deep JSON bomb is refused before it is parsed', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    try {
      await expect(callTool(open('deep'), 'do')).rejects.toMatchObject({
        type: 'OUTPUT_INVALID',
        reason: 'TOO_DEEP',
      });
      expect(parse.mock.calls.filter(([text]) => text.includes('[[[['))).toEqual([]);
    } finally {
      parse.mockRestore();
    }
  });

  it('50,000 content blocks are too many', async () => {
    await expect(callTool(open('blocks'), 'do')).rejects.toMatchObject({
      type: 'OUTPUT_TOO_LARGE',
      reason: 'TOO_MANY_BLOCKS',
    });
  });

  it.each([
    ['content that is no list', { content: 'text' }],
    ['a block that is no block', { content: [7] }],
    ['a block of a type nobody knows', { content: [{ type: 'exploit' }] }],
    ['a text that is none', { content: [{ type: 'text', text: { toString: 'x' } }] }],
  ])('protocol nonsense is OUTPUT_INVALID, not a crash: %s', async (_, result) => {
    await expect(callTool(open('nonsense'), 'do', { result })).rejects.toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'PROTOCOL_VIOLATION',
    });
  });

  it('a schema bomb of the server is never compiled: nor is one by which an answer would have to be checked', async () => {
    const server = open('schema-bomb');
    const work = async () => {
      const { tools } = await server.listTools(AbortSignal.timeout(30_000));
      expect(tools[0]?.outputSchema).toBeDefined();
      await expect(callTool(server, 'do')).resolves.toMatchObject({ isError: false });
    };
    expect(await cpuMsOf(work)).toBeLessThan(5_000);
  });

  it.each([
    ['that goes round in circles', 'list-circle', 'OUTPUT_INVALID'],
    ['of thousands of tools', 'list-many', 'OUTPUT_TOO_LARGE'],
    ['of pages without end', 'list-pages', 'OUTPUT_TOO_LARGE'],
    ['with one name twice', 'list-twice', 'OUTPUT_INVALID'],
    ['with half a character, of which there is no hash', 'list-surrogate', 'OUTPUT_INVALID'],
  ])('a list of tools %s is refused', async (_, mode, type) => {
    const server = open(mode, { max_message_bytes: 1 << 20 });
    await expect(server.listTools(AbortSignal.timeout(10_000))).rejects.toMatchObject({ type });
  });

  it('a progress flood becomes a few events, strictly increasing', async () => {
    const told: McpProgress[] = [];
    const beganAt = Date.now();
    const onProgress = (progress: McpProgress) => void told.push(progress);
    await expect(
      callTool(open('progress', { max_message_bytes: 1 << 20 }), 'do', {}, { onProgress }),
    ).resolves.toMatchObject({ isError: false });
    // Ten a second, for as long as it lasted.
    expect(told.length).toBeLessThanOrEqual(1 + Math.ceil((Date.now() - beganAt) / 100));
    expect(told.every(({ progress }, at) => at === 0 || progress > (told[at - 1]?.progress ?? 0))).toBe(true);
    expect(told.every(({ message }) => (message ?? '').length <= 500)).toBe(true);
  });

  it('a server that asks for sampling or roots is refused both, and a question of its is not answered', async () => {
    const said = textOf(await callTool(open('asks'), 'do'));
    const refused = { error: expect.objectContaining({ code: -32_601 }) };
    expect(JSON.parse(said)).toEqual([refused, { result: { action: 'cancel' } }, refused]);
  });

  it('a flood of requests to the gateway ends the connection', async () => {
    await expect(callTool(open('ask-flood'), 'do')).rejects.toMatchObject({ reason: 'PROTOCOL_VIOLATION' });
  });

  it('a server that does not read what it is sent does not fill the memory: it is told nothing more', async () => {
    const server = open('unread');
    const args = { text: 'x'.repeat(4 << 20) };
    const calls = Array.from({ length: 12 }, () => callTool(server, 'do', args, wait(3_000)));
    const ends = await Promise.allSettled(calls);
    const refused = ends.filter(
      (end) => end.status === 'rejected' && end.reason.reason === 'CONNECTION_LOST',
    );
    expect(refused.length).toBeGreaterThan(3);
  });

  it('the environment of the gateway does not leak: no variable, no process, no file of it', async () => {
    vi.stubEnv('UTE_CANARY', CANARY);
    try {
      const said = textOf(await callTool(open('env', { env: { GIVEN: 'yes' } }), 'do'));
      const seen = said;
      expect(seen).toContain('"GIVEN":"yes"');
      expect(seen).not.toContain(CANARY);
      expect(seen).not.toContain('UTE_');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('children that a server has detached do not outlive the connection', async () => {
    const mark = `9${process.pid}.5`;
    const server = bench.open({
      ...hostileServer('forks'),
      args: [...(hostileServer('forks')['args'] as string[]), mark],
    });
    await callTool(server, 'do');
    await eventually(() => expect(running(mark)).toBeGreaterThanOrEqual(4));
    await server.close();
    expect(running(mark)).toBe(0);
  });

  it('a server that ignores the end of its stdin and every signal it may ignore is killed', async () => {
    const server = open('stubborn');
    await callTool(server, 'do');
    const [child] = bench.children;
    await server.close();
    await expect(child?.exited).resolves.toBeDefined();
  });

  it('a stderr flood becomes a bounded number of log lines, without the secret that it repeats', async () => {
    const server = open('stderr', { env: { API_KEY: 'sk-live-0123456789abcdef' } });
    await callTool(server, 'do');
    const printed = bench.log.lines.filter(({ fields }) => fields['output'] !== undefined);
    expect(printed.length).toBeGreaterThan(10);
    expect(printed.length).toBeLessThan(200);
    expect(JSON.stringify(bench.log.lines)).not.toContain('sk-live');
  });

  it('a crash loop spends the restart budget: then calls are refused at once, with the time to come back', async () => {
    const server = open('crash-at-start', { max_failures_per_minute: 3 });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(callTool(server, 'do')).rejects.toMatchObject({
        type: 'UNAVAILABLE',
        reason: 'CONNECT_FAILED',
      });
    }
    const started = bench.children.length;
    const refused = await callTool(server, 'do').catch((error: unknown) => error);
    expect(refused).toMatchObject({ type: 'UNAVAILABLE', reason: 'RESTART_BUDGET_SPENT', retryable: true });
    const { retryAfterMs } = refused as { retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(30_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(bench.children.length).toBe(started);
  });

  it('a server that crashes at every call is not started as often as it is called', async () => {
    const server = open('crash', { max_failures_per_minute: 2 });
    await expect(callTool(server, 'do')).rejects.toMatchObject(CONNECTED);
    await expect(callTool(server, 'do')).rejects.toMatchObject(CONNECTED);
    const many = await Promise.allSettled(Array.from({ length: 20 }, () => callTool(server, 'do')));
    expect(
      many.every((end) => end.status === 'rejected' && end.reason.reason === 'RESTART_BUDGET_SPENT'),
    ).toBe(true);
    expect(bench.children).toHaveLength(2);
  });
});

/** Processes of this machine whose command line holds the mark. */
function running(mark: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(`sleep\0${mark}`);
    } catch {
      return false;
    }
  }).length;
}

interface RpcRequest {
  readonly id: number;
  readonly method: string;
}

describe('a hostile server over HTTP', () => {
  const loopback = new LoopbackServers();
  const benches: McpBench[] = [];
  afterAll(async () => {
    await Promise.all(benches.map((bench) => bench.close()));
    await loopback.close();
  });

  function benchWith(outside: FakeOutside): McpBench {
    const bench = new McpBench({ http: new UndiciHttpClient({ outside }) });
    benches.push(bench);
    return bench;
  }

  /** An honest 2025-11-25 handshake, and then `answer` for each call. */
  const server = (answer: (response: ServerResponse, message: RpcRequest) => unknown) =>
    loopback.http(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      if (request.method !== 'POST') return response.writeHead(405).end();
      const message = JSON.parse(body) as RpcRequest;
      const json = (result: JsonObject) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      switch (message.method) {
        case 'server/discover':
          return response.writeHead(400).end();
        case 'initialize':
          return json({
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'h', version: '1' },
          });
        case 'tools/call':
          return answer(response, message);
        default:
          return response.writeHead(202).end();
      }
    });

  const local = (url: string) => ({
    url: `${url}/mcp`,
    allow_private: ['127.0.0.0/8'],
    allow_ports: ['1-65535'],
  });
  const events = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' });

  it('a redirect to the metadata service is not followed', async () => {
    const secret = vi.fn<() => void>();
    const metadata = await loopback.http((_, response) => (secret(), response.end('keys')));
    const outside = new FakeOutside().elsewhere(metadata);
    const url = await server((response) =>
      response.writeHead(307, { location: 'http://169.254.169.254/latest/' }).end(),
    );
    outside.route('127.0.0.1', url);
    const bench = benchWith(outside);
    await expect(callTool(bench.open(local(url)), 'do')).rejects.toMatchObject({
      type: 'PERMANENT',
      reason: 'REDIRECT_REFUSED',
    });
    expect(secret).not.toHaveBeenCalled();
    expect(outside.dialled.every(({ addresses }) => addresses[0] === '127.0.0.1')).toBe(true);
  });

  it('a name that is resolved to a private address is not dialled', async () => {
    const inside = vi.fn<() => void>();
    const url = await loopback.http((_, response) => (inside(), response.end()));
    const outside = new FakeOutside().name('mcp.example.com', '10.0.0.5').elsewhere(url);
    const bench = benchWith(outside);
    await expect(callTool(bench.open({ url: 'http://mcp.example.com/mcp' }), 'do')).rejects.toMatchObject({
      reason: 'EGRESS_DENIED',
    });
    expect(outside.dialled).toEqual([]);
    expect(inside).not.toHaveBeenCalled();
  });

  it('a name that is rebound to a private address between two connections is caught the second time', async () => {
    let rebound = false;
    const url = await server((response, { id }) => {
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }));
    });
    const outside = new FakeOutside().route('93.184.216.34', url);
    outside.answers('mcp.example.com', () => [rebound ? '127.0.0.1' : '93.184.216.34']);
    const bench = benchWith(outside);
    const open = bench.open({ url: 'http://mcp.example.com/mcp' });
    await expect(callTool(open, 'do')).resolves.toMatchObject({ isError: false });
    rebound = true;
    // Connections that are kept were made to the public address: the handshake's may serve one call more.
    const ends = await Promise.allSettled(Array.from({ length: 8 }, () => callTool(open, 'do')));
    expect(ends).toContainEqual({
      status: 'rejected',
      reason: expect.objectContaining({ reason: 'EGRESS_DENIED' }),
    });
    expect(outside.dialled.every(({ addresses }) => addresses[0] === '93.184.216.34')).toBe(true);
  });

  it('an event without an end is cut off at the limit of a message', async () => {
    let sent = 0;
    const url = await server((response) => {
      events(response);
      const more = () => {
        let flows = true;
        while (flows && !response.destroyed && sent < 256 << 20) {
          sent += 65_536;
          flows = response.write(`data: ${'x'.repeat(65_530)}`);
        }
        response.once('drain', more);
      };
      more();
    });
    const bench = benchWith(new FakeOutside().route('127.0.0.1', url));
    const open = bench.open({ ...local(url), max_message_bytes: 200_000 });
    await expect(callTool(open, 'do')).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
    expect(sent).toBeLessThan(64 << 20);
  });

  it.each([
    ['as JSON', 'application/json', ''],
    ['in an event stream', 'text/event-stream', 'data: '],
  ])('a deep JSON bomb %s is refused before it is parsed', async (_, type, prefix) => {
    const bomb = '['.repeat(100_000) + ']'.repeat(100_000);
    const url = await server((response, { id }) =>
      response
        .writeHead(200, { 'content-type': type })
        .end(
          `id: "\n${prefix}{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${bomb}}}\n\n`.slice(
            prefix === '' ? 6 : 0,
          ),
        ),
    );
    const bench = benchWith(new FakeOutside().route('127.0.0.1', url));
    await expect(callTool(bench.open(local(url)), 'do')).rejects.toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'TOO_DEEP',
    });
  });

  it('a stream that ends without the answer fails the call at once, not at its deadline', async () => {
    const url = await server((response) => events(response).end(': nothing\n\n'));
    const bench = benchWith(new FakeOutside().route('127.0.0.1', url));
    const noDeadline = { signal: new AbortController().signal };
    await expect(callTool(bench.open(local(url)), 'do', {}, noDeadline)).rejects.toMatchObject(CONNECTED);
  });

  it('a session that the server claims not to know is renewed once, not for ever', async () => {
    let calls = 0;
    const url = await server((response) => ((calls += 1), response.writeHead(404).end()));
    const bench = benchWith(new FakeOutside().route('127.0.0.1', url));
    await expect(callTool(bench.open(local(url)), 'do')).rejects.toMatchObject({ reason: 'HTTP_404' });
    expect(calls).toBe(2);
  });

  it('an error page that repeats the credential does not bring it into the failure’s message', async () => {
    const url = await server((response) =>
      response.writeHead(500).end('Bearer t0p-secret-token is not valid'),
    );
    const bench = benchWith(new FakeOutside().route('127.0.0.1', url));
    const open = bench.open({ ...local(url), auth: { type: 'bearer', token: 't0p-secret-token' } });
    const failure = (await callTool(open, 'do').catch((error: unknown) => error)) as Error;
    expect(failure).toMatchObject({ type: 'TRANSIENT', reason: 'HTTP_500' });
    expect(failure.message).not.toContain('t0p-secret');
  });

  it('a server that is down spends the budget too, and the gateway tries again when the minute is over', async () => {
    const clock = new FakeClock();
    const outside = new FakeOutside();
    const bench = new McpBench({ http: new UndiciHttpClient({ outside }), clock });
    benches.push(bench);
    outside.name('mcp.example.com', '93.184.216.34');
    const open = bench.open({ url: 'http://mcp.example.com/mcp', max_failures_per_minute: 2 });
    for (let attempt = 0; attempt < 2; attempt += 1)
      await expect(callTool(open, 'do')).rejects.toMatchObject({ type: 'UNAVAILABLE' });
    await expect(callTool(open, 'do')).rejects.toMatchObject({
      reason: 'RESTART_BUDGET_SPENT',
      retryAfterMs: 60_000,
    });
    const dialled = outside.dialled.length;
    clock.jumpTo(clock.now() + 60_000);
    await expect(callTool(open, 'do')).rejects.toMatchObject({ reason: 'CONNECT_FAILED' });
    expect(outside.dialled.length).toBeGreaterThan(dialled);
  });
});
