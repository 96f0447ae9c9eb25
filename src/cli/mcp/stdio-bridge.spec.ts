// The bridge of `ute mcp` before a gateway that answers badly, or not at all: every request is answered once, and nothing is tried for ever.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { requestsTo } from './gateway-requests.ts';
import { StdioBridge } from './stdio-bridge.ts';

type Answer = (body: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => void;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

async function bridgeTo(answer: Answer) {
  const streams: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET') streams.push(request);
    void text(request).then((body) =>
      answer(body === '' ? {} : (JSON.parse(body) as Record<string, unknown>), response, request),
    );
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clock = new FakeClock();
  const told: Record<string, unknown>[] = [];
  const warned: string[] = [];
  const bridge = new StdioBridge({
    request: requestsTo({
      url: new URL(`http://127.0.0.1:${port}/mcp`),
      headers: {},
      tls: undefined,
    }),
    write: (message) => told.push(JSON.parse(message) as Record<string, unknown>),
    warn: (sentence) => warned.push(sentence),
    clock,
    random: () => 1,
  });
  return { bridge, clock, told, warned, streams };
}

const ask = (id: number, method = 'ping') => JSON.stringify({ jsonrpc: '2.0', id, method, params: {} });
const result = (id: unknown, said: object = {}) => JSON.stringify({ jsonrpc: '2.0', id, result: said });
const json = (response: ServerResponse, status: number, body: string) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
const events = (response: ServerResponse, ...texts: readonly string[]) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(texts.join(''));
  return response;
};
const failed = (id: number, words: string) => ({
  id,
  error: { code: -32_603, message: expect.stringContaining(words) },
});

describe('a request is answered once', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['a stream that ends without the answer', (response) => events(response, ': nothing\n\n').end()],
    [
      'a stream with the answer to another request',
      (response) => events(response, `data: ${result(7)}\n\n`).end(),
    ],
    [
      'a stream that ends in the middle of the answer',
      (response) => events(response, `data: ${result(1)}`).end(),
    ],
    ['no body', (response) => response.writeHead(202).end()],
    ['a page', (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad</h1>')],
    ['the answer to another request', (response) => json(response, 200, result(7))],
  ])('with an error where the gateway gives %s', async (_, answer) => {
    const { bridge, told } = await bridgeTo((_body, response) => answer(response));
    await bridge.take(ask(1));
    expect(told.filter(({ id }) => id === 1)).toMatchObject([failed(1, 'without a message of MCP')]);
  });

  it('with an error where the stream breaks off before the answer, and with nothing more where it does after it', async () => {
    const { bridge, told } = await bridgeTo((body, response) => {
      const stream = events(response, body['id'] === 2 ? `data: ${result(2)}\n\n` : ': begun\n\n');
      setImmediate(() => stream.destroy());
    });
    await bridge.take(ask(1));
    expect(told).toMatchObject([{ id: 1, error: { code: -32_603 } }]);
    await bridge.take(ask(2));
    expect(told.filter(({ id }) => id === 2)).toHaveLength(1);
  });

  it('from an event of several lines, as one line', async () => {
    const { bridge, told } = await bridgeTo((_, response) =>
      events(response, 'data: {"jsonrpc":"2.0",\r\n', 'data:"id":1,"result":{}}\r\n\r\n').end(),
    );
    await bridge.take(ask(1));
    expect(told).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });
});

describe('when standard input ends', () => {
  it('what was asked is answered before the bridge is done', async () => {
    const held: (() => void)[] = [];
    const { bridge, told } = await bridgeTo((body, response) =>
      held.push(() => json(response, 200, result(body['id']))),
    );
    void bridge.take(ask(1));
    let isDone = false;
    const finished = bridge.finish(30_000).then(() => (isDone = true));
    await eventually(() => held.length === 1, 'the request arrives');
    expect(isDone).toBe(false);
    held[0]?.();
    await finished;
    expect(told).toMatchObject([{ id: 1, result: {} }]);
  });

  it('what the gateway has not answered in time is cancelled there, and answered with an error', async () => {
    let isCancelled = false;
    let hasCome = false;
    const { bridge, clock, told } = await bridgeTo((_, response) => {
      hasCome = true;
      response.once('close', () => (isCancelled = true));
    });
    void bridge.take(ask(1));
    await eventually(() => hasCome, 'the request arrives');
    const finished = bridge.finish(30_000);
    await clock.advance(29_999);
    expect(told).toEqual([]);
    await clock.advance(1);
    await finished;
    expect(told).toMatchObject([failed(1, 'Standard input has ended')]);
    await eventually(() => isCancelled, 'the request is closed');
  });
});

describe('the stream of changes', () => {
  const VERSION = { protocolVersion: '2025-11-25' };
  const initialized = async (status: number, times = 1) => {
    const parts = await bridgeTo((body, response, request) => {
      if (request.method === 'POST') json(response, 200, result(body['id'], VERSION));
      else if (status === 200) events(response, ': open\n\n');
      else response.writeHead(status).end();
    });
    for (let id = 1; id <= times; id += 1) await parts.bridge.take(ask(id, 'initialize'));
    return parts;
  };

  it('is not opened for a client that is initialized after standard input has ended', async () => {
    const held: ServerResponse[] = [];
    const { bridge, told, streams } = await bridgeTo((_body, response) => held.push(response));
    void bridge.take(ask(1, 'initialize'));
    await eventually(() => held.length === 1);
    const finished = bridge.finish(30_000);
    json(held[0] as ServerResponse, 200, result(1, { protocolVersion: '2025-11-25' }));
    await finished;
    // What the bridge would have asked for comes before this does.
    void bridge.take(ask(2));
    await eventually(() => told.some(({ id }) => id === 2));
    expect([told[0], streams.length]).toMatchObject([{ id: 1 }, 0]);
  });

  it('is one, however often the client initializes', async () => {
    const { bridge, clock, streams } = await initialized(200, 3);
    const live = () => streams.filter(({ socket }) => !socket.destroyed).length;
    await bridge.take(ask(4));
    await eventually(() => live() === 1, 'one is open');
    const opened = streams.length;
    await clock.advance(600_000);
    await bridge.take(ask(5));
    expect([streams.length, live()]).toEqual([opened, 1]);
    await bridge.finish(1);
  });

  it.each([401, 403, 404])(
    'ends for good where the gateway says %i: on stderr and to the client',
    async (status) => {
      const { bridge, clock, streams, told, warned } = await initialized(status);
      await eventually(() => warned.length === 1, 'it is said');
      expect(warned[0]).toContain(`HTTP ${status}`);
      expect(told.at(-1)).toMatchObject({
        method: 'notifications/message',
        params: { level: 'error', data: expect.stringContaining(`HTTP ${status}`) },
      });
      expect(clock.pendingTimers).toBe(0);
      await clock.advance(600_000);
      expect(streams).toHaveLength(1);
      await bridge.finish(1);
    },
  );

  it('ends without a word where there is none', async () => {
    const { bridge, clock, streams, told, warned } = await initialized(405);
    await eventually(() => streams.length === 1, 'it is asked for');
    await bridge.take(ask(9, 'initialize'));
    await eventually(() => streams.length === 2, 'and again for the next session');
    await eventually(() => clock.pendingTimers === 0, 'no try is due');
    expect([told.length, warned]).toEqual([2, []]);
    await bridge.finish(1);
  });

  it('is tried again, later each time, while the gateway is busy', async () => {
    const { bridge, clock, streams } = await initialized(503);
    for (const [tries, waited] of [
      [1, 2_000],
      [2, 4_000],
      [3, 8_000],
    ] as const) {
      // oxfmt-ignore
      await eventually(() => streams.length === tries && clock.pendingTimers === 1, `try ${tries}`);
      await clock.advance(waited - 1);
      expect(streams).toHaveLength(tries);
      await clock.advance(1);
    }
    await bridge.finish(1);
    expect(clock.pendingTimers).toBe(0);
  });
});

it('says in headers what the gateway asks for, and from then on by itself', async () => {
  const said: (string | undefined)[] = [];
  const data = { 'io.ute/parameterHeaders': [{ header: 'mcp-param-region', path: ['place', 'region'] }] };
  const { bridge, told } = await bridgeTo(({ id }, response, { headers }) => {
    const region = headers['mcp-param-region'] as string | undefined;
    said.push(region);
    if (region !== undefined) return json(response, 200, result(id));
    const error = { code: -32_020, message: 'missing', data };
    return json(response, 400, JSON.stringify({ jsonrpc: '2.0', id, error }));
  });
  const call = (id: number, region: string) => {
    const params = { name: 'routed', arguments: { place: { region } } };
    return bridge.take(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
  };
  await call(1, 'us-west1');
  await call(2, 'größe');
  expect(told).toEqual([JSON.parse(result(1)), JSON.parse(result(2))]);
  expect(said).toEqual([undefined, 'us-west1', `=?base64?${Buffer.from('größe').toString('base64')}?=`]);
});

it('is refused once more where headers are of no help', async () => {
  let asked = 0;
  const data = { 'io.ute/parameterHeaders': [{ header: 'authorization', path: ['a'] }, 7] };
  const error = { code: -32_020, message: 'missing', data };
  const { bridge, told } = await bridgeTo(({ id }, response) => {
    asked += 1;
    json(response, 400, JSON.stringify({ jsonrpc: '2.0', id, error }));
  });
  await bridge.take(ask(1, 'tools/call'));
  expect([asked, told]).toEqual([2, [{ jsonrpc: '2.0', id: 1, error }]]);
});
