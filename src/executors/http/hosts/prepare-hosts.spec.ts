// Requests that arguments say, to places that the operator lists: what goes where, with whose credentials, and what goes nowhere.
import type { IncomingMessage } from 'node:http';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callOf, functionOf } from '../../../../test/helpers/call-kit.ts';
import { FakeOutside } from '../../../../test/helpers/fake-outside.ts';
import { LoopbackServers } from '../../../../test/helpers/loopback-servers.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { SystemClock } from '../../../infra/clock/system-clock.ts';
import { UndiciHttpClient } from '../../../infra/http/undici-http-client.ts';
import { httpExecutor } from '../index.ts';
import { httpOptionsSchema } from '../options-schema.ts';
import { hostsConnectionSchema } from './hosts-schema.ts';

const servers = new LoopbackServers();
let api: string;
let outside: FakeOutside;
let http: UndiciHttpClient;
let asked: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];

const HOSTS: JsonObject[] = [
  {
    base_url: 'http://shop.test/v1',
    methods: ['GET', 'POST'],
    caller_headers: ['X-Request-Id', 'Accept-Language'],
    auth: { type: 'bearer', token: 'shop-token-1234567' },
  },
  { base_url: 'http://shop.test/v1/admin', headers: { 'X-Admin': 'admin-token-7654321' } },
  {
    base_url: 'http://maps.test',
    auth: { type: 'api_key', in: 'query', name: 'key', value: 'maps-key-1234567' },
  },
];

beforeAll(async () => {
  api = await servers.http((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      asked.push({ method, url, headers, body });
      if (url.startsWith('/v1/away')) return response.writeHead(302, { location: 'http://maps.test/' }).end();
      if (url.startsWith('/v1/broken')) return response.writeHead(500).end('no');
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ said: headers.authorization ?? url }));
    });
  });
});
afterAll(() => servers.close());
beforeEach(() => {
  asked = [];
  outside = new FakeOutside().elsewhere(api);
  for (const name of ['shop.test', 'maps.test', 'evil.test']) outside.name(name, '93.184.215.14');
  http = new UndiciHttpClient({ outside });
});
afterEach(() => http.close());

const SCHEMA = { type: 'object', properties: { url: { type: 'string' } } };

function prepare(hosts = HOSTS) {
  const settings = { type: 'http-hosts', hosts };
  hostsConnectionSchema.parse(settings);
  const executor = httpExecutor.create({
    http,
    clock: new SystemClock(),
    settings: { allowPrivate: [], allowPorts: [] },
  });
  return executor.prepare({
    function: functionOf({ inputSchema: SCHEMA }),
    options: httpOptionsSchema.parse({ request_from: 'arguments', connection: 'apis' }),
    connection: { name: 'apis', type: 'http-hosts', settings },
  });
}
const send = async (args: JsonObject, hosts = HOSTS) =>
  (await (await prepare(hosts)).execute(callOf({ arguments: args }), () => {})).data;

it('goes to a listed place by a listed method, with the credential of that place', async () => {
  const data = await send({
    url: 'http://shop.test/v1/orders?state=open#x',
    method: 'POST',
    headers: { 'x-request-id': 'r-1' },
    body: { item: 7 },
  });
  expect(data).toEqual({ said: 'Bearer [secret]' });
  expect(asked).toEqual([
    {
      method: 'POST',
      url: '/v1/orders?state=open',
      body: '{"item":7}',
      headers: expect.objectContaining({
        host: 'shop.test',
        authorization: 'Bearer shop-token-1234567',
        'content-type': 'application/json',
        'x-request-id': 'r-1',
      }) as object,
    },
  ]);
});

it('the longest place that fits counts, and no credential goes to another', async () => {
  await send({ url: 'http://shop.test/v1/admin/users' });
  await send({ url: 'http://maps.test/tile?x=1' });
  expect(asked[0]?.headers).toMatchObject({ 'x-admin': 'admin-token-7654321' });
  expect(asked[0]?.headers).not.toHaveProperty('authorization');
  expect(asked[1]).toMatchObject({ url: '/tile?x=1&key=maps-key-1234567' });
  expect(asked[1]?.headers).not.toHaveProperty('authorization');
});

describe('what is not listed', () => {
  it.each([
    'http://evil.test/v1/orders',
    'https://shop.test/v1/orders',
    'http://shop.test:8080/v1/orders',
    'http://shop.test/',
    'http://shop.test/v10/orders',
    'http://shop.test/v1/../admin',
    'http://shop.test/v1/%2e%2e/admin',
    'http://shop.test.evil.test/v1',
    'http://127.0.0.1/v1',
  ])('%s is refused, and told where requests may go', async (url) => {
    await expect(send({ url })).rejects.toMatchObject({
      reason: 'EGRESS_DENIED',
      partialSideEffects: false,
      details: { listed: expect.arrayContaining(['http://shop.test/v1', 'http://maps.test/']) as string[] },
    });
    expect(outside.dialled).toEqual([]);
  });

  it('is everything where nothing is listed', async () => {
    await expect(send({ url: 'http://shop.test/v1' }, [])).rejects.toMatchObject({ reason: 'EGRESS_DENIED' });
  });

  it('a listed name that leads to a private address is not reached', async () => {
    outside.name('shop.test', '10.0.0.1');
    await expect(send({ url: 'http://shop.test/v1/orders' })).rejects.toMatchObject({
      reason: 'EGRESS_DENIED',
    });
  });
});

describe('a path that some server reads as that of another place', () => {
  it.each([
    'http://shop.test/v1/%61dmin/users',
    'http://shop.test/v1/%2561dmin/users',
    'http://shop.test/v1//admin/users',
    'http://shop.test/v1/Admin',
    'http://shop.test/v1/admin;x=1/users',
    'http://shop.test/v1/x/..;/admin',
    'http://shop.test/v1/..;/keys',
    'http://shop.test/v1/..;x=1/keys',
    'http://shop.test/v1/%252e%252e/keys',
  ])('%s is sent with the rules of neither', async (url) => {
    await expect(send({ url, method: 'POST' })).rejects.toMatchObject({
      reason: 'UNSAFE_ARGUMENT',
      details: { violations: [{ pointer: '/url' }] },
    });
    expect(asked).toEqual([]);
  });

  it('is refused below a whole host as well, where a part of it is listed apart', async () => {
    const hosts = [{ base_url: 'http://maps.test' }, { base_url: 'http://maps.test/admin' }];
    for (const path of ['x/..%2fadmin', '/admin', '%61dmin', 'ADMIN/x'])
      await expect(send({ url: `http://maps.test/${path}` }, hosts)).rejects.toMatchObject({
        reason: 'UNSAFE_ARGUMENT',
      });
    expect(asked).toEqual([]);
  });

  it('places that differ in capitals alone are two, each with its own rules', async () => {
    const hosts: JsonObject[] = [
      { base_url: 'http://maps.test/a' },
      { base_url: 'http://maps.test/A', methods: ['POST'] },
    ];
    await send({ url: 'http://maps.test/a/x' }, hosts);
    await send({ url: 'http://maps.test/A/x', method: 'POST' }, hosts);
    expect(asked.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  it('nothing else of a path is refused for how it is written', async () => {
    for (const path of ['a;b=1/c', 'A%20b/%7Euser', 'x//y', 'caf%C3%A9', '100%25', 'a%3Fb'])
      await send({ url: `http://shop.test/v1/${path}` });
    expect(asked.map(({ url }) => url)).toEqual(
      ['a;b=1/c', 'A%20b/%7Euser', 'x//y', 'caf%C3%A9', '100%25', 'a%3Fb'].map((path) => `/v1/${path}`),
    );
  });
});

describe('arguments that are refused before anything is sent', () => {
  it.each<readonly [string, JsonObject, string]>([
    ['a method that is not listed', { url: 'http://shop.test/v1/x', method: 'DELETE' }, '/method'],
    ['a method that is none', { url: 'http://shop.test/v1/x', method: 'get' }, '/method'],
    ['a body where there is none', { url: 'http://shop.test/v1/x', body: {} }, '/body'],
    [
      'a header that is not listed',
      { url: 'http://shop.test/v1/x', headers: { 'X-Other': '1' } },
      '/headers/X-Other',
    ],
    [
      'a credential',
      { url: 'http://shop.test/v1/x', headers: { Authorization: 'x' } },
      '/headers/Authorization',
    ],
    ['a host', { url: 'http://shop.test/v1/x', headers: { Host: 'evil.test' } }, '/headers/Host'],
    [
      'a second header',
      { url: 'http://shop.test/v1/x', headers: { 'X-Request-Id': 'a\r\nHost: b' } },
      '/headers/X-Request-Id',
    ],
    [
      'a header twice',
      { url: 'http://shop.test/v1/x', headers: { 'X-Request-Id': 'a', 'x-request-id': 'b' } },
      '/headers/x-request-id',
    ],
    [
      'a header that is no text',
      { url: 'http://shop.test/v1/x', headers: { 'X-Request-Id': ['a'] } },
      '/headers/X-Request-Id',
    ],
    ['headers that are none', { url: 'http://shop.test/v1/x', headers: 'X: y' }, '/headers'],
    ['an encoded slash', { url: 'http://shop.test/v1/..%2fadmin' }, '/url'],
    ['an encoded backslash', { url: 'http://shop.test/v1/..%5Cadmin' }, '/url'],
    ['the parameter of the key', { url: 'http://maps.test/tile?key=mine' }, '/url'],
    ['a user', { url: 'http://me:you@shop.test/v1/x' }, '/url'],
    ['a line end', { url: 'http://shop.test/v1/x HTTP/1.1\r\nHost: b' }, '/url'],
    ['a file', { url: 'file:///etc/passwd' }, '/url'],
    ['no text', { url: 7 }, '/url'],
  ])('%s', async (_what, args, pointer) => {
    await expect(send(args)).rejects.toMatchObject({
      type: 'VALIDATION',
      reason: 'UNSAFE_ARGUMENT',
      details: { violations: [{ pointer }] },
    });
    expect(asked).toEqual([]);
  });

  it('no header of any spelling that is not listed reaches the place', async () => {
    const prepared = await prepare();
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 1, maxLength: 12 }),
        fc.string({ maxLength: 12 }),
        async (name, value) => {
          fc.pre(!['x-request-id', 'accept-language'].includes(name.toLowerCase()));
          const call = callOf({ arguments: { url: 'http://shop.test/v1/x', headers: { [name]: value } } });
          await expect(prepared.execute(call, () => {})).rejects.toMatchObject({ reason: 'UNSAFE_ARGUMENT' });
        },
      ),
      { numRuns: 100 },
    );
    expect(asked).toEqual([]);
  });
});

it('redirects are not followed, so that nothing of one place reaches another', async () => {
  await expect(send({ url: 'http://shop.test/v1/away' })).rejects.toMatchObject({
    reason: 'REDIRECT_REFUSED',
  });
  await expect(send({ url: 'http://shop.test/v1/broken' })).rejects.toMatchObject({ reason: 'HTTP_500' });
  expect(asked).toHaveLength(2);
});

it('a dry run shows the request without what the place brings', async () => {
  const prepared = await prepare();
  const shown = prepared.render?.(
    callOf({ arguments: { url: 'http://shop.test/v1/x', method: 'POST', body: { a: 1 } } }),
  );
  expect(shown).toMatchObject({
    method: 'POST',
    url: 'http://shop.test/v1/x',
    headers: { authorization: '[secret]' },
    body: { a: 1 },
  });
});

describe('declarations that are refused', () => {
  const problemsOf = (hosts: JsonObject[]) =>
    hostsConnectionSchema
      .safeParse({ type: 'http-hosts', hosts })
      .error?.issues.map(({ path }) => path.join('.'));

  it.each([
    ['a place twice', [{ base_url: 'http://a.test' }, { base_url: 'http://a.test/' }], 'hosts.1.base_url'],
    [
      'a header that carries a secret',
      [{ base_url: 'http://a.test', caller_headers: ['Cookie'] }],
      'hosts.0.caller_headers.0',
    ],
    [
      'a header of the transport',
      [{ base_url: 'http://a.test', caller_headers: ['Host'] }],
      'hosts.0.caller_headers.0',
    ],
    ['a URL with a query', [{ base_url: 'http://a.test?x' }], 'hosts.0.base_url'],
  ])('%s', (_what, hosts, path) => {
    expect(problemsOf(hosts)).toEqual([path]);
  });

  it('a header that the place sets itself, and a port that is not reached', async () => {
    const own = { base_url: 'http://a.test', headers: { 'X-A': '1' }, caller_headers: ['x-a'] };
    await expect((async () => prepare([own]))()).rejects.toThrow('sets the header "X-A" itself');
    await expect((async () => prepare([{ base_url: 'http://a.test:81' }]))()).rejects.toThrow(
      'leads to port 81',
    );
  });

  it('other settings of a request beside request_from, and no connection', () => {
    const options = { request_from: 'arguments', path: '/x' };
    const paths = httpOptionsSchema.safeParse(options).error?.issues.map(({ path }) => path.join('.'));
    expect(paths).toEqual(['path', 'connection']);
  });
});
