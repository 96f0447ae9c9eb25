// Attacks by an upstream on who called it: answers that never end, unpack to gigabytes, or reflect what must stay secret.
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { inspect } from 'node:util';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { withExactNumbers } from '../../src/lib/json/exact-json.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { callOf } from '../helpers/call-kit.ts';
import { leastCpuRatio } from '../helpers/cpu-time.ts';
import { callHttp, prepareHttp } from '../helpers/http-kit.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';

const LOOPBACK = ['127.0.0.0/8'];
const MIB = 1024 * 1024;

let servers: LoopbackServers;
let http: UndiciHttpClient;

beforeEach(() => {
  servers = new LoopbackServers();
  http = new UndiciHttpClient({ connectTimeoutMs: 2_000 });
});

afterEach(async () => {
  await http.close();
  await servers.close();
});

function call(options: JsonObject, args: JsonObject = {}, signal?: AbortSignal) {
  return callHttp({ http, options, allowPrivate: LOOPBACK }, args, signal);
}

function fetchFrom(url: string, maxBytes?: number): Promise<Response> {
  return http.fetch({ allowHosts: [new URL(url).host], allowPrivate: LOOPBACK }, maxBytes)(url);
}

function encoded(coding: string, body: Buffer): Promise<string> {
  return servers.http((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding }).end(body),
  );
}

const SPACES = Buffer.alloc(32 * MIB, ' ');

describe('a compression bomb', () => {
  it.each([
    ['gzip', () => gzipSync(SPACES)],
    ['br', () => brotliCompressSync(SPACES.subarray(0, 8 * MIB))],
    ['zstd', () => zstdCompressSync(SPACES)],
    ['deflate', () => deflateSync(SPACES)],
  ])('in %s is cut off at the cap', async (coding, bomb) => {
    const url = await encoded(coding, bomb());
    await expect(call({ url })).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE', origin: 'tool' });
  });

  it('below the cap of a generous tool is cut off at its ratio', async () => {
    const url = await encoded('gzip', gzipSync(SPACES));
    await expect(call({ url, max_response_bytes: 64 * MIB })).rejects.toMatchObject({
      type: 'OUTPUT_TOO_LARGE',
      reason: 'COMPRESSION_RATIO',
    });
  });

  it('inside another, announced as such, is not unpacked at all', async () => {
    const url = await encoded('gzip, gzip', gzipSync(gzipSync(SPACES)));
    await expect(call({ url })).rejects.toMatchObject({ reason: 'UNSUPPORTED_ENCODING' });
  });

  it('inside another, hidden, is unpacked once and is not JSON', async () => {
    const url = await encoded('gzip', gzipSync(gzipSync(SPACES)));
    await expect(call({ url })).rejects.toMatchObject({ type: 'OUTPUT_INVALID', reason: 'NOT_JSON' });
  });

  it('that asks for a huge window is refused', async () => {
    // A zstd frame of a single raw block whose header asks for a window of 2 GiB.
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x09, 0x00, 0x00, 0x31]);
    const url = await encoded('zstd', frame);
    await expect(call({ url })).rejects.toMatchObject({ reason: 'UNREADABLE_ENCODING' });
  });

  it('sent to a library’s fetch is refused unread', async () => {
    const url = await encoded('gzip', gzipSync(SPACES));
    await expect(fetchFrom(url)).rejects.toMatchObject({ reason: 'UNSUPPORTED_ENCODING' });
  });
});

describe('an answer without end', () => {
  function drip(head: string, more: string): Promise<string> {
    return servers.raw((socket: Socket) => {
      socket.write(head);
      const timer = setInterval(() => socket.write(more), 5);
      socket.on('close', () => clearInterval(timer));
    });
  }

  it.each([
    ['a body that drips', 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n', '.'],
    ['a head that drips', 'HTTP/1.1 200 OK\r\nx: ', 'y'],
    ['early hints for ever', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['chunk extensions that drip', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 'x'],
  ])('as %s ends at the deadline', async (_, head, more) => {
    const url = await drip(head, more);
    const deadline = new AbortController();
    setTimeout(() => deadline.abort(new Error('deadline')), 150);
    await expect(call({ url }, {}, deadline.signal)).rejects.toThrow('deadline');
  });

  it.each([
    ['a header', 'HTTP/1.1 200 OK\r\nx: ', 'y'.repeat(8_192)],
    ['headers', 'HTTP/1.1 200 OK\r\n', `x: ${'y'.repeat(1_000)}\r\n`],
    ['trailers', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n', `x: ${'y'.repeat(1_000)}\r\n`],
  ])('as %s is cut off at 16 KiB', async (_, head, more) => {
    const url = await drip(head, more);
    await expect(call({ url })).rejects.toMatchObject({
      type: 'OUTPUT_TOO_LARGE',
      reason: 'HEADERS_TOO_LARGE',
    });
  });

  it('as a body is cut off at the cap, for a library’s fetch too', async () => {
    const url = await drip('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n', 'x'.repeat(65_536));
    await expect(call({ url, max_response_bytes: 100_000 })).rejects.toMatchObject({
      type: 'OUTPUT_TOO_LARGE',
    });
    const response = await fetchFrom(url, 100_000);
    await expect(response.text()).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
  });

  it('that is only announced to be too large is not waited for', async () => {
    const url = await servers.raw((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n'),
    );
    await expect(call({ url })).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
    await expect(fetchFrom(url)).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
  });
});

describe('a number that no double holds', () => {
  const JSON_TEXT = '{"id":9007199254740993,"n":[1e999,12345678901234567890],"f":0.1,"s":"9007199254740993"}';

  it('is never rounded: it comes as the text that it was written as', async () => {
    const url = await servers.http((_, response) =>
      response.setHeader('content-type', 'application/json').end(JSON_TEXT),
    );
    expect((await call({ url })).data).toEqual({
      id: '9007199254740993',
      n: ['1e999', '12345678901234567890'],
      f: 0.1,
      s: '9007199254740993',
    });
    await expect(call({ url, large_numbers: 'refuse' })).rejects.toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'UNSAFE_NUMBER',
    });
  });

  it('is found in a large answer without holding up the event loop', async () => {
    const many = Array.from({ length: 40_000 }, (_, n) => `${2n ** 60n + BigInt(n)}`);
    const text = `[${many.join(',')}]`;
    expect(JSON.parse(withExactNumbers(text))).toEqual(many);
    // In proportion to the text, as reading it is.
    const plainly = () => Array.from({ length: 10 }, () => JSON.parse(text) as unknown);
    expect(leastCpuRatio(() => withExactNumbers(text), plainly, 10)).toBeLessThan(10);
  });
});

describe('an upstream that reflects the secret it was sent', () => {
  const SECRET = 's3cr3t/tok+en "4711"';
  const FORMS: readonly (readonly [string, (secret: string) => string])[] = [
    ['as it is', (secret) => JSON.stringify({ seen: `<<${secret}>>` })],
    ['as a key', (secret) => JSON.stringify({ [secret]: 1 })],
    ['in base64', (secret) => JSON.stringify(Buffer.from(`user:${secret}`).toString('base64'))],
    ['in base64url', (secret) => JSON.stringify(Buffer.from(`{"k":"${secret}"}`).toString('base64url'))],
    ['percent-encoded', (secret) => JSON.stringify(`/next?key=${encodeURIComponent(secret)}`)],
    ['form-encoded', (secret) => JSON.stringify(new URLSearchParams({ key: secret }).toString())],
    ['in hexadecimal', (secret) => JSON.stringify(Buffer.from(secret).toString('hex'))],
    ['in escapes of JSON', (secret) => `"${Array.from(secret, escapeUnit).join('')}"`],
    [
      'as JSON inside JSON',
      (secret) => JSON.stringify(JSON.stringify({ headers: { authorization: secret } })),
    ],
  ];
  const escapeUnit = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

  function connection(url: string): JsonObject {
    return {
      base_url: url,
      auth: { type: 'bearer', token: SECRET },
      allow_private: LOOPBACK,
      allow_ports: ['1-65535'],
    };
  }

  function reflect(status: number, form: (secret: string) => string, type = 'application/json') {
    return servers.http((request, response) => {
      const secret = (request.headers.authorization ?? '').replace('Bearer ', '');
      response.writeHead(status, { 'content-type': type.replace('SECRET', secret) }).end(form(secret));
    });
  }

  function expectClean(outcome: unknown): void {
    const seen = inspect(outcome, { depth: 10, showHidden: true });
    const encoded = Buffer.from(SECRET).toString('base64').slice(0, 20);
    for (const trace of [SECRET, 's3cr3t', '4711', encoded, Buffer.from(SECRET).toString('hex')]) {
      expect(seen).not.toContain(trace);
    }
  }

  it.each(FORMS)('%s, in its result, shows a mark instead', async (_, form) => {
    const url = await reflect(200, form);
    const { data } = await callHttp({ http, options: { path: '/' }, connection: connection(url) });
    expect(JSON.stringify(data)).toContain('[secret]');
    expectClean(data);
  });

  it.each(FORMS)('%s, in an error page, shows it neither to the caller nor to the log', async (_, form) => {
    const url = await reflect(500, form, 'text/plain');
    const failure = await callHttp({ http, options: { path: '/' }, connection: connection(url) }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ reason: 'HTTP_500' });
    expectClean(failure);
  });

  it('where the excerpt for the log is cut shows no half of it', async () => {
    for (let before = 2_020; before < 2_048; before += 4) {
      const url = await reflect(500, (secret) => 'x'.repeat(before) + secret, 'text/plain');
      const failure = await callHttp({ http, options: { path: '/' }, connection: connection(url) }).catch(
        (error: unknown) => error,
      );
      expect(inspect(failure)).not.toContain('xs3');
    }
  });

  it('in the content type of a file shows a mark in its place', async () => {
    const url = await reflect(200, () => 'x', 'x/SECRET');
    const { data } = await callHttp({ http, options: { path: '/' }, connection: connection(url) });
    expect(data).toMatchObject({ content_type: expect.stringMatching(/^x\//), base64: 'eA==' });
    expectClean(data);
  });

  it('in bytes that are not HTTP shows it neither to the caller nor to the log', async () => {
    const url = await servers.raw((socket) => socket.end(`${SECRET}\r\n\r\n`));
    const failure = await callHttp({ http, options: { path: '/' }, connection: connection(url) }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ reason: 'MALFORMED_RESPONSE' });
    expectClean(failure);
  });

  it.each([
    ['bearer', { type: 'bearer', token: SECRET }],
    ['basic', { type: 'basic', username: 'user', password: SECRET }],
    ['a key in a header', { type: 'api_key', in: 'header', name: 'X-Key', value: SECRET }],
    ['a key in the query', { type: 'api_key', in: 'query', name: 'key', value: SECRET }],
  ])('has no dry run to reflect it from: %s is a mark in it', async (_, auth) => {
    const settings = { base_url: 'https://api.example.com', headers: { Cookie: SECRET }, auth };
    const options = { method: 'POST', path: '/{id}', body: { n: '{n}' } };
    const prepared = await prepareHttp({ http, options, connection: settings });
    const shown = await prepared.render?.(callOf({ arguments: { id: 7, n: 1 } }));
    expect(shown).toMatchObject({ method: 'POST', headers: { cookie: '[secret]' }, body: { n: 1 } });
    expect(shown?.['url']).toMatch(/^https:\/\/api\.example\.com\/7(?:\?key=\[secret\])?$/);
    expectClean(shown);
  });
});
