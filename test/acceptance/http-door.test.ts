// Attacks on the doors themselves: bytes that two readers would read differently, and requests that are hardly requests.
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeStruct } from '../../src/api/grpc/struct/struct-codec.ts';
import { REQUESTS, UNREADABLE } from '../../src/api/grpc/wire-types.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { ECHO_HANDLER, javascriptTool, removeDir, tempDir, writeTools } from '../helpers/temp-tools.ts';

let dir: string;
let gateway: RunningGateway;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'echo.js'), ECHO_HANDLER);
  gateway = await startGateway({ tools: [writeTools(dir, javascriptTool('echo', './echo.js'))] });
});

afterAll(async () => {
  await gateway.stop();
  removeDir(dir);
});

const JSON_TYPE = 'application/json';

async function send(path: string, body: Uint8Array | string, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${gateway.keys.admin.text}`;
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': JSON_TYPE, ...headers },
    body,
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

/** What a socket gets for these bytes, until it is closed. */
function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.end(text));
    socket.setEncoding('utf8').on('data', (part: string) => (answer += part));
    socket.once('close', () => resolve(answer)).once('error', reject);
  });
}

const EVERY_BODY = ['/v1/tools/echo/execute', '/v1/execute', '/v1/admin/recordings', '/v1/schedules'];
const NOT_UTF8 = Buffer.from([...Buffer.from('{"arguments":{"a":"'), 0xff, 0xfe, ...Buffer.from('"}}')]);
const CALL = '{"arguments":{"a":1}}';

describe('a body', () => {
  it.each(EVERY_BODY)('that is not UTF-8 is refused by %s', async (path) => {
    const { status, text } = await send(path, NOT_UTF8);
    expect(status).toBe(400);
    expect(text).toContain('UTF-8');
  });

  it.each([
    ['another charset', CALL, { 'content-type': 'application/json; charset=utf-16' }],
    ['a charset that nobody knows', CALL, { 'content-type': 'application/json; charset="x-none"' }],
    ['a content-encoding', gzipSync(CALL), { 'content-encoding': 'gzip' }],
    ['a content-encoding that nobody knows', CALL, { 'content-encoding': 'x-none' }],
    ['another type', CALL, { 'content-type': 'text/plain' }],
  ])('with %s is answered with 415 and not guessed at', async (_name, body, headers) => {
    expect((await send('/v1/tools/echo/execute', body, headers)).status).toBe(415);
    expect((await send('/v1/schedules', body, headers)).status).toBe(415);
  });

  it('in UTF-8 is taken however that is said', async () => {
    for (const type of [
      'application/json',
      'application/json; charset=UTF-8',
      'application/json;charset="utf-8"',
    ])
      expect((await send('/v1/tools/echo/execute', CALL, { 'content-type': type })).status).toBe(200);
    expect((await send('/v1/tools/echo/execute', CALL, { 'content-encoding': 'identity' })).status).toBe(200);
  });
});

describe('the same bytes over gRPC', () => {
  const entry = (key: Uint8Array, text: Uint8Array) => {
    const value = protobuf.Writer.create().uint32(0x1a).bytes(text).finish();
    return protobuf.Writer.create().uint32(0x0a).bytes(key).uint32(0x12).bytes(value).finish();
  };
  const struct = (...entries: Uint8Array[]) =>
    entries.reduce((writer, each) => writer.uint32(0x0a).bytes(each), protobuf.Writer.create()).finish();
  const a = Buffer.from('a');

  it('are refused where they are not UTF-8, in keys, values and names', () => {
    expect(decodeStruct(struct(entry(a, a)))).toEqual({ a: 'a' });
    expect(() => decodeStruct(struct(entry(Buffer.from([0xff]), a)))).toThrow('not UTF-8');
    expect(() => decodeStruct(struct(entry(a, Buffer.from([0xc3, 0x28]))))).toThrow('not UTF-8');
    const request = protobuf.Writer.create()
      .uint32(0x0a)
      .bytes(Buffer.from([0xff]))
      .finish();
    expect(REQUESTS.Execute(request)).toBe(UNREADABLE);
  });

  it('are refused where a Struct has a key twice', () => {
    expect(() => decodeStruct(struct(entry(a, a), entry(a, a)))).toThrow('more than once');
  });
});

describe('a list of calls without a valid key', () => {
  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['no list', '{"calls":1}'],
    ['a call', '{"calls":[{"tool":"echo","arguments":{}}]}'],
    ['bytes that are no text', NOT_UTF8],
  ])('is 401 whatever it holds: %s', async (_name, body) => {
    for (const authorization of ['', 'Bearer ute_nobody_nothing']) {
      const { status, text } = await send('/v1/execute', body, { authorization });
      expect(status).toBe(401);
      expect(JSON.parse(text)).toMatchObject({ ok: false, error: { type: 'AUTH' } });
    }
  });
});

describe('a request that no route takes', () => {
  const get = (path: string, method = 'GET') => {
    const { host } = new URL(gateway.url);
    return raw(`${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  };

  it.each([
    ['GET', '/v1/execute', 405, 'POST'],
    ['DELETE', '/v1/tools/echo', 405, 'GET, HEAD'],
    ['PUT', '/livez', 405, 'GET, HEAD'],
    // Fastify knows this one, and asks it for a body's media type before it says that there is no route.
    ['QUERY', '/v1/execute', 405, 'POST'],
  ])('because of its method %s %s is told which ones do', async (method, path, status, allow) => {
    const answer = await get(path, method);
    expect(answer).toContain(`HTTP/1.1 ${status}`);
    expect(answer.toLowerCase()).toContain(`allow: ${allow.toLowerCase()}`);
    expect(answer).toContain('content-type: application/problem+json');
    expect(answer).toContain('METHOD_NOT_ALLOWED');
  });

  it.each([
    ['there is none', '/nowhere', 404, 'ROUTE_NOT_FOUND'],
    ['a part of it is too long', `/v1/tools/${'x'.repeat(300)}/docs`, 414, 'URI_TOO_LONG'],
    ['it cannot be read', '/v1/tools/%zz', 400, 'BAD_REQUEST'],
    ['it is larger than the headers may be', `/v1/tools?x=${'x'.repeat(20_000)}`, 431, 'HEADERS_TOO_LARGE'],
  ])('because %s answers with a problem in JSON', async (_why, path, status, reason) => {
    const answer = await get(path);
    expect(answer).toContain(`HTTP/1.1 ${status}`);
    expect(answer).toContain('application/problem+json');
    expect(answer).toContain(reason);
  });

  it('because it is no HTTP answers with a problem in JSON', async () => {
    expect(await raw('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*application\/problem\+json/);
  });
});

describe('an error of HTTP itself', () => {
  const host = () => `host: ${new URL(gateway.url).host}\r\n`;

  it.each<[string, number, () => string]>([
    ['bytes that are no HTTP', 400, () => 'GARBAGE\r\n\r\n'],
    ['a request that names no host', 400, () => 'GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['a method that nobody knows', 400, () => `FOO /livez HTTP/1.1\r\n${host()}\r\n`],
    ['a tunnel', 405, () => `CONNECT a.example:443 HTTP/1.1\r\n${host()}\r\n`],
    [
      'an expectation that nobody meets',
      400,
      () => `POST /v1/execute HTTP/1.1\r\n${host()}expect: magic\r\ncontent-length: 2\r\n\r\n{}`,
    ],
    [
      'two lengths',
      400,
      () => `POST /v1/execute HTTP/1.1\r\n${host()}content-length: 1\r\ncontent-length: 2\r\n\r\n`,
    ],
    [
      'a coding that nobody knows',
      400,
      () => `POST /v1/execute HTTP/1.1\r\n${host()}transfer-encoding: x\r\n\r\n`,
    ],
    ['headers without an end', 431, () => `GET /livez HTTP/1.1\r\n${host()}x: ${'a'.repeat(20_000)}\r\n\r\n`],
    [
      'a path that cannot be read',
      400,
      () => `GET /v1/tools/%ZZ HTTP/1.1\r\n${host()}connection: close\r\n\r\n`,
    ],
    ['a path that is not there', 404, () => `GET /nope HTTP/1.1\r\n${host()}connection: close\r\n\r\n`],
    [
      'a method that a route does not take',
      405,
      () => `PROPFIND /livez HTTP/1.1\r\n${host()}connection: close\r\n\r\n`,
    ],
  ])('is a problem, too: %s', async (_what, status, text) => {
    const answer = await raw(text());
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.toLowerCase()).toContain('content-type: application/problem+json');
    const { status: said, code } = JSON.parse(answer.slice(answer.indexOf('{'))) as Record<string, unknown>;
    expect({ said, code }).toEqual({ said: status, code: expect.stringMatching(/^[A-Z_]+$/) as string });
  });
});

it('a list of calls takes no other member: a context beside it would count for nothing', async () => {
  const { status, text } = await send(
    '/v1/execute',
    '{"calls":[{"tool":"echo"}],"context":{"session_id":"s"}}',
  );
  expect(status).toBe(400);
  expect(text).toContain('"pointer":"/context"');
});
