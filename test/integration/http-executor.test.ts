// The http executor and its undici client against real sockets: limits, lost connections, redirects, pooling.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { httpExecutor, type HttpOptions } from '../../src/executors/http/index.ts';
import type { HttpSettings } from '../../src/executors/http/settings.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { callOf, functionOf } from '../helpers/call-kit.ts';
import { FakeOutside } from '../helpers/fake-outside.ts';
import { callHttp } from '../helpers/http-kit.ts';

const cleanups: (() => Promise<void> | void)[] = [];
let http: UndiciHttpClient;

beforeEach(() => {
  http = new UndiciHttpClient({ connectTimeoutMs: 1_000 });
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  await http.close();
});

async function listen(server: Server | TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function upstream(answer: (...exchange: Parameters<RequestListener>) => unknown): Promise<string> {
  return listen(createServer((request, response) => void answer(request, response)));
}

/** Speaks whatever bytes it likes. */
function rawUpstream(speak: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  cleanups.push(() => sockets.forEach((socket) => socket.destroy()));
  return listen(
    createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', () => speak(socket));
    }),
  );
}

const settings: HttpSettings = { allowPrivate: ['127.0.0.0/8'], allowPorts: ['1-65535'] };

async function call(options: HttpOptions, args: JsonObject = {}, signal = AbortSignal.timeout(10_000)) {
  const executor = httpExecutor.create({ http, clock: new SystemClock(), settings });
  const prepared = await executor.prepare({ function: functionOf(), options });
  return prepared.execute(callOf({ arguments: args, signal }), () => {});
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return request.setEncoding('utf8').reduce((text: string, chunk: string) => text + chunk, '');
}

describe('a call over http', () => {
  it('sends method, path, query, headers and body as declared', async () => {
    const origin = await upstream(async (request, response) => {
      const { method, url, headers } = request;
      const echo = { method, url, headers, body: JSON.parse(await bodyOf(request)) as unknown };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(echo));
    });
    const { data } = await call(
      {
        url: `${origin}/users/{id}`,
        method: 'PATCH',
        query: { notify: '{notify}' },
        headers: { 'X-Note': '{note}' },
        body: { name: '{name}', age: '{age}' },
      },
      { id: 'ä', notify: true, note: 'hi', age: 3 },
    );
    expect(data).toMatchObject({
      method: 'PATCH',
      url: '/users/%C3%A4?notify=true',
      body: { age: 3 },
      headers: { 'x-note': 'hi', 'content-type': 'application/json', 'accept-encoding': 'identity' },
    });
  });

  it('answers the demo’s weather', async () => {
    const { href } = new URL('../../tools/demo-upstream/server.js', import.meta.url);
    const { startDemoUpstream } = (await import(href)) as {
      readonly startDemoUpstream: () => Promise<{ url: string; close: () => Promise<void> }>;
    };
    const demo = await startDemoUpstream();
    cleanups.push(demo.close);
    const options: HttpOptions = { url: `${demo.url}/v1/weather/{city}`, query: { units: '{units}' } };
    expect(await call(options, { city: 'são paulo', units: 'fahrenheit' })).toMatchObject({
      data: { city: 'São Paulo', temperature: 79, units: 'fahrenheit' },
    });
    await expect(call(options, { city: 'Atlantis' })).rejects.toMatchObject({
      type: 'NOT_FOUND',
      origin: 'tool',
    });
  });

  it('keeps connections for the calls that follow, and never opens more than the limit', async () => {
    await http.close();
    http = new UndiciHttpClient({ connectionsPerOrigin: 3 });
    let connections = 0;
    const server = createServer((_, response) => response.setHeader('content-type', 'text/plain').end('ok'));
    server.on('connection', () => (connections += 1));
    const url = await listen(server);
    for (let i = 0; i < 10; i += 1) await call({ url });
    expect(connections).toBeLessThanOrEqual(2);
    await Promise.all(Array.from({ length: 10 }, () => call({ url })));
    expect(connections).toBe(3);
  });

  it('takes no notice of proxy variables', async () => {
    const before = process.env['HTTP_PROXY'];
    process.env['HTTP_PROXY'] = 'http://127.0.0.1:1';
    cleanups.push(() => {
      if (before === undefined) delete process.env['HTTP_PROXY'];
      else process.env['HTTP_PROXY'] = before;
    });
    await http.close();
    http = new UndiciHttpClient();
    const url = await upstream((_, response) =>
      response.setHeader('content-type', 'text/plain').end('direct'),
    );
    expect(await call({ url })).toEqual({ data: 'direct' });
  });
});

describe('an upstream that gives no answer', () => {
  it('is UNAVAILABLE, CONNECT_FAILED and without side effects when nobody listens', async () => {
    const server = createTcpServer();
    const url = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    await expect(call({ url, method: 'POST' })).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'CONNECT_FAILED',
      origin: 'gateway',
      partialSideEffects: false,
    });
  });

  it('is CONNECT_FAILED when its name does not resolve or it does not speak TLS', async () => {
    const world = new UndiciHttpClient({ outside: new FakeOutside() });
    cleanups.push(() => world.close());
    await expect(
      callHttp({ http: world, options: { url: 'http://nowhere.invalid/' } }),
    ).rejects.toMatchObject({ reason: 'CONNECT_FAILED' });
    const url = await rawUpstream((socket) => socket.end('not TLS\r\n'));
    await expect(call({ url: url.replace('http:', 'https:') })).rejects.toMatchObject({
      reason: 'CONNECT_FAILED',
    });
  });

  it('is CONNECTION_LOST, side effects unknown, when it hangs up after the request was sent', async () => {
    for (const speak of [
      (socket: Socket) => socket.resetAndDestroy(),
      (socket: Socket) => socket.end(),
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'),
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123'),
    ]) {
      const url = await rawUpstream(speak);
      await expect(call({ url, method: 'POST' })).rejects.toMatchObject({
        type: 'UNAVAILABLE',
        reason: 'CONNECTION_LOST',
        partialSideEffects: undefined,
      });
    }
  });
});

describe('the end of a call', () => {
  it('comes at its deadline even while the upstream keeps dripping', async () => {
    let closed = false;
    const url = await upstream((request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const drip = setInterval(() => response.write('.'), 10);
      request.socket.on('close', () => {
        clearInterval(drip);
        closed = true;
      });
    });
    const reason = new Error('deadline');
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 150);
    await expect(call({ url }, {}, controller.signal)).rejects.toBe(reason);
    await expect.poll(() => closed).toBe(true);
  });

  it('comes at once when the call was aborted before it began', async () => {
    await expect(call({ url: 'http://127.0.0.1:1' }, {}, AbortSignal.abort('gone'))).rejects.toBe('gone');
  });

  it('keeps a request that waited for a connection from being sent', async () => {
    await http.close();
    http = new UndiciHttpClient({ connectionsPerOrigin: 1 });
    const urls: (string | undefined)[] = [];
    let release = (): void => {};
    const url = await upstream((request, response) => {
      urls.push(request.url);
      const answer = () => void response.setHeader('content-type', 'text/plain').end('ok');
      if (request.url === '/slow') release = answer;
      else answer();
    });
    const slow = call({ url: `${url}/slow` });
    const controller = new AbortController();
    const given = call({ url: `${url}/given-up` }, {}, controller.signal);
    await expect.poll(() => urls).toEqual(['/slow']);
    controller.abort('enough');
    await expect(given).rejects.toBe('enough');
    release();
    await slow;
    await call({ url: `${url}/after` });
    expect(urls).toEqual(['/slow', '/after']);
  });
});

describe('what an upstream sends', () => {
  it('is cut off at the cap, announced or not', async () => {
    let sent = 0;
    const chunked = await upstream(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      while (!response.destroyed && sent < 64) {
        response.write(Buffer.alloc(65_536, 'x'));
        sent += 1;
        await delay(1);
      }
      response.end();
    });
    const announced = await upstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 5_000_000 }).flushHeaders();
    });
    for (const url of [chunked, announced]) {
      await expect(call({ url, max_response_bytes: 100_000 })).rejects.toMatchObject({
        type: 'OUTPUT_TOO_LARGE',
        origin: 'tool',
      });
    }
    expect(sent).toBeLessThan(64);
  });

  it('is unpacked under the same cap when it comes compressed unasked', async () => {
    const url = await upstream((request, response) => {
      const size = request.url === '/bomb' ? 20_000_000 : 2;
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(size, '1')));
    });
    expect(await call({ url })).toEqual({ data: 11 });
    await expect(call({ url: `${url}/bomb` })).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
  });

  it('as a redirect is refused and nobody goes there', async () => {
    let visited = false;
    const target = await upstream((_, response) => {
      visited = true;
      response.end();
    });
    const url = await upstream((_, response) => response.writeHead(302, { location: target }).end());
    await expect(call({ url })).rejects.toMatchObject({ type: 'PERMANENT', reason: 'REDIRECT_REFUSED' });
    expect(visited).toBe(false);
  });

  it('in headers of more than 16 KiB, or as anything but HTTP, is refused', async () => {
    const fat = await rawUpstream((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`),
    );
    await expect(call({ url: fat })).rejects.toMatchObject({
      type: 'OUTPUT_TOO_LARGE',
      reason: 'HEADERS_TOO_LARGE',
    });
    const garbage = await rawUpstream((socket) => socket.end('220 smtp.example ESMTP\r\n'));
    await expect(call({ url: garbage })).rejects.toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'MALFORMED_RESPONSE',
    });
  });

  it('before the answer itself (103) is passed over', async () => {
    const url = await upstream((_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.setHeader('content-type', 'text/plain').end('final');
    });
    expect(await call({ url })).toEqual({ data: 'final' });
  });

  it('as an error with an oversized page is still that error', async () => {
    const url = await upstream((_, response) => response.writeHead(500).end('x'.repeat(2_000_000)));
    await expect(call({ url })).rejects.toMatchObject({ type: 'TRANSIENT', reason: 'HTTP_500' });
  });
});

describe('a closed client', () => {
  it('refuses further requests as UNAVAILABLE', async () => {
    await http.close();
    await expect(call({ url: 'http://127.0.0.1:1' })).rejects.toMatchObject({ type: 'UNAVAILABLE' });
    http = new UndiciHttpClient();
  });
});
