// Attacks on what an http tool sends: arguments that would change the target, smuggle headers, or replace credentials.
import { createServer as createTlsServer } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { FakeOutside } from '../helpers/fake-outside.ts';
import { callHttp } from '../helpers/http-kit.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { selfSignedCertificate } from '../helpers/self-signed-certificate.ts';

const PUBLIC = '93.184.216.34';
const UNSAFE = { type: 'VALIDATION', reason: 'UNSAFE_ARGUMENT' };

let servers: LoopbackServers;
let outside: FakeOutside;
let http: UndiciHttpClient;
let seen: { readonly url: string; readonly headers: readonly string[] }[];

beforeEach(async () => {
  servers = new LoopbackServers();
  seen = [];
  const upstream = await servers.http((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.rawHeaders });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(request.url));
  });
  outside = new FakeOutside().name('api.example.com', PUBLIC).route(PUBLIC, upstream);
  http = new UndiciHttpClient({ outside, connectTimeoutMs: 2_000 });
});

afterEach(async () => {
  await http.close();
  await servers.close();
});

function call(options: JsonObject, args: JsonObject = {}, connection?: JsonObject) {
  return callHttp({ http, options, ...(connection === undefined ? {} : { connection }) }, args);
}

describe('an argument in the path', () => {
  it.each([
    ['a step up', '..'],
    ['an encoded step up', '%2e%2e'],
    ['a doubly encoded step up', '%252e%252e'],
    ['a step up with more behind it', '../admin'],
    ['a step up by a backslash', '..\\admin'],
    ['a step up behind a slash', 'a/../admin'],
    ['an encoded step up behind an encoded slash', 'a%2f..%2fadmin'],
    ['a backslash', 'a\\admin'],
    ['nothing', ''],
    ['a null byte', 'a\u0000'],
    ['a line break', 'a\r\nHost: evil.net'],
    ['half a character', '\ud800'],
  ])('that is %s is refused and nothing is sent', async (_, id) => {
    await expect(call({ url: 'http://api.example.com/users/{id}' }, { id })).rejects.toMatchObject(UNSAFE);
    expect({ seen, dialled: outside.dialled }).toEqual({ seen: [], dialled: [] });
  });

  it.each([
    ['a host of its own', '//evil.net', '/users/%2F%2Fevil.net'],
    ['an encoded slash', 'a%2fadmin', '/users/a%252fadmin'],
    ['a slash', 'a/admin', '/users/a%2Fadmin'],
    ['a percent sign', '100%', '/users/100%25'],
    ['a user part', '@evil.net', '/users/%40evil.net'],
    ['a port', ':8080', '/users/%3A8080'],
    ['a query', '?admin=1', '/users/%3Fadmin%3D1'],
    ['a fragment', '#x', '/users/%23x'],
    ['a slash of another script', '∕admin', '/users/%E2%88%95admin'],
  ])('that looks like %s stays one segment of the same host', async (_, id, path) => {
    await call({ url: 'http://api.example.com/users/{id}' }, { id });
    expect(seen.map(({ url }) => url)).toEqual([path]);
    expect(outside.asked).toEqual(['api.example.com']);
  });
});

it.each(['a/admin', 'a%2fadmin'])(
  'an argument in the path that is %j is refused where the tool says so',
  async (id) => {
    const options = { url: 'http://api.example.com/users/{id}', path_slashes: 'refuse' };
    await expect(call(options, { id })).rejects.toMatchObject(UNSAFE);
    expect(seen).toEqual([]);
  },
);

describe('a tool’s URL', () => {
  it.each([
    ['a user that looks like the host', 'https://api.example.com@evil.net/'],
    ['a user and a password', 'https://user:password@api.example.com/'],
    ['a host from an argument', 'https://{host}/'],
    ['a part of the host from an argument', 'https://api.{region}.example.com/'],
    ['a port from an argument', 'https://api.example.com:{port}/'],
    ['a backslash before another host', 'https://api.example.com\\@evil.net/'],
    ['another scheme', 'gopher://api.example.com/'],
    ['steps up', 'https://api.example.com/v1/../admin'],
    ['encoded steps up', 'https://api.example.com/v1/%2e%2e/admin'],
  ])('with %s is refused at load', async (_, url) => {
    await expect(call({ url }, { host: 'a', region: 'b', port: 1 })).rejects.toThrow(/[Ee]xpected/);
    expect(outside.dialled).toEqual([]);
  });
});

describe('an argument in the query', () => {
  it('that holds separators stays one value', async () => {
    await call({ url: 'http://api.example.com/', query: { q: '{q}' } }, { q: 'a&admin=1#x+y' });
    expect(seen[0]?.url).toBe('/?q=a%26admin%3D1%23x%2By');
  });

  it.each([
    [
      'exploded',
      { filter: { from: 'filter', style: 'form' }, tenant: 'acme' },
      { filter: { tenant: 'other' } },
    ],
    [
      'exploded, by the name of the credential',
      { filter: { from: 'filter', style: 'form' } },
      { filter: { api_key: 'x' } },
    ],
    ['remaining', 'remaining', { api_key: 'x' }],
  ])(
    'that is an object of names, %s, cannot set a parameter that stands elsewhere',
    async (_, query, args) => {
      const connection = {
        base_url: 'http://api.example.com',
        auth: { type: 'api_key', in: 'query', name: 'api_key', value: 'the-real-key' },
      };
      await expect(call({ path: '/', query }, args, connection)).rejects.toMatchObject(UNSAFE);
      expect(seen).toEqual([]);
    },
  );
});

describe('an argument in a header', () => {
  it.each([
    ['a line break and a header', 'a\r\nX-Admin: 1'],
    ['a bare line feed', 'a\nX-Admin: 1'],
    ['a null byte', 'a\u0000b'],
    ['a line separator', 'a\u2028b'],
    ['a whole second request', 'a\r\n\r\nGET /admin HTTP/1.1\r\nHost: api.example.com'],
  ])('that holds %s is refused and nothing is sent', async (_, note) => {
    const options = { url: 'http://api.example.com/', headers: { 'X-Note': '{note}' } };
    await expect(call(options, { note })).rejects.toMatchObject(UNSAFE);
    expect(seen).toEqual([]);
  });

  it.each([
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Proxy-Authorization',
    'X-Forwarded-For',
  ])('cannot be the header %s: it is refused at load', async (name) => {
    const options = { url: 'http://api.example.com/', headers: { [name]: '{x}' } };
    await expect(call(options, { x: 'evil.net' })).rejects.toThrow('is set by the gateway');
  });

  it('cannot replace the credential of the connection', async () => {
    const connection = {
      base_url: 'http://api.example.com',
      auth: { type: 'api_key', in: 'header', name: 'X-Key', value: 'the-real-key' },
    };
    const options = { path: '/', headers: { 'x-KEY': '{key}' } };
    await expect(call(options, { key: 'another' }, connection)).rejects.toThrow('sets this header already');
  });
});

describe('a connection', () => {
  it.each([
    ['a line break in its token', { auth: { type: 'bearer', token: 'a\r\nHost: evil.net' } }],
    ['a line break in its header', { headers: { 'X-A': 'a\r\nX-B: c' } }],
    [
      'Host as the header of its key',
      { auth: { type: 'api_key', in: 'header', name: 'Host', value: 'evil.net' } },
    ],
    [
      'two credentials for one header',
      { headers: { Authorization: 'x' }, auth: { type: 'bearer', token: 'yyyy' } },
    ],
    [
      'a token endpoint in the clear',
      {
        auth: {
          type: 'oauth2_client_credentials',
          token_url: 'http://a.example/t',
          client_id: 'i',
          client_secret: 's',
        },
      },
    ],
  ])('with %s is refused at load', async (_, fields) => {
    const connection = { base_url: 'http://api.example.com', ...fields };
    await expect(call({ path: '/' }, {}, connection)).rejects.toThrow(
      /[Ee]xpected|is set by the gateway|sets the header/,
    );
    expect(outside.dialled).toEqual([]);
  });
});

describe('a certificate', () => {
  async function tlsUpstream(certificate = selfSignedCertificate()) {
    const url = await servers.listen(
      createTlsServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
        seen.push({ url: request.url ?? '', headers: request.rawHeaders });
        response.setHeader('content-type', 'text/plain').end('ok');
      }),
      'https',
    );
    for (const name of ['localhost', 'bank.example.com']) outside.name(name, PUBLIC);
    outside.route(PUBLIC, url);
    return certificate;
  }

  async function trusting(ca: Buffer): Promise<void> {
    await http.close();
    http = new UndiciHttpClient({ outside, ca, connectTimeoutMs: 2_000 });
  }

  it('of an authority that is trusted, for the right name, is accepted: the cases below can fail', async () => {
    await trusting((await tlsUpstream()).cert);
    expect(await call({ url: 'https://localhost/x' })).toEqual({ data: 'ok' });
  });

  it('that nobody vouches for is refused before the request is sent', async () => {
    await tlsUpstream();
    await expect(call({ url: 'https://localhost/' })).rejects.toMatchObject({ reason: 'CONNECT_FAILED' });
    expect(seen).toEqual([]);
  });

  it('of another name is refused before the request is sent', async () => {
    await trusting((await tlsUpstream()).cert);
    await expect(call({ url: 'https://bank.example.com/' })).rejects.toMatchObject({
      reason: 'CONNECT_FAILED',
    });
    expect(seen).toEqual([]);
  });

  it('is checked although NODE_TLS_REJECT_UNAUTHORIZED says not to', async () => {
    await tlsUpstream();
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await expect(call({ url: 'https://localhost/' })).rejects.toMatchObject({ reason: 'CONNECT_FAILED' });
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
    expect(seen).toEqual([]);
  });
});
