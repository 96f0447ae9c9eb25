// Attacks on where an http tool connects to. Names and addresses are a world of the test's own: every address that
// must not be reached leads to a victim on loopback, which would notice.
import { Resolver } from 'node:dns/promises';
import { createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { FakeOutside } from '../helpers/fake-outside.ts';
import { callHttp } from '../helpers/http-kit.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';

const PUBLIC = '93.184.216.34';
const DENIED = { type: 'PERMANENT', reason: 'EGRESS_DENIED', retryable: false, partialSideEffects: false };

let servers: LoopbackServers;
let outside: FakeOutside;
let http: UndiciHttpClient;
let hits: string[];
let good: string;

beforeEach(async () => {
  servers = new LoopbackServers();
  hits = [];
  const victim = await servers.http((request, response) => {
    hits.push(request.url ?? '');
    response.setHeader('content-type', 'text/plain').end('credentials of the cloud');
  });
  good = await servers.http((request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(request.url)),
  );
  outside = new FakeOutside().elsewhere(victim).name('api.example.com', PUBLIC).route(PUBLIC, good);
  http = new UndiciHttpClient({ outside, connectTimeoutMs: 1_000 });
});

afterEach(async () => {
  await http.close();
  await servers.close();
});

function call(options: JsonObject, args: JsonObject = {}) {
  return callHttp({ http, options }, args);
}

/** What came of a call, and who noticed. */
async function attempt(url: string, allowPrivate: string[] = []) {
  const outcome: unknown = await call({ url, allow_private: allowPrivate }).catch((error: unknown) => error);
  return { outcome, dialled: outside.dialled, hits };
}

const REFUSED = { outcome: DENIED, dialled: [], hits: [] };

it('a public upstream is reached: the world of these tests works', async () => {
  expect(await call({ url: 'http://api.example.com/x' })).toEqual({ data: '/x' });
  expect(outside.dialled).toEqual([{ hostname: 'api.example.com', addresses: [PUBLIC], port: 80 }]);
});

describe('an address written into the URL', () => {
  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback as one decimal number', '2130706433'],
    ['loopback in octal', '0177.0.0.1'],
    ['loopback in hexadecimal', '0x7f.0.0.1'],
    ['loopback with parts left out', '127.1'],
    ['loopback with a trailing dot', '127.0.0.1.'],
    ['loopback in full-width digits', '１２７.０.０.１'],
    ['this host', '0.0.0.0'],
    ['this host in IPv6', '[::]'],
    ['loopback in IPv6', '[::1]'],
    ['loopback mapped into IPv6', '[::ffff:127.0.0.1]'],
    ['loopback mapped into IPv6 in hexadecimal', '[::ffff:7f00:1]'],
    ['loopback in the old compatible form', '[::127.0.0.1]'],
    ['loopback in 6to4', '[2002:7f00:1::]'],
    ['loopback behind NAT64', '[64:ff9b::7f00:1]'],
    ['loopback behind a local NAT64', '[64:ff9b:1::7f00:1]'],
    ['loopback translated', '[::ffff:0:7f00:1]'],
    ['a Teredo address', '[2001:0:5ef5:79fd::1]'],
    ['a private network of class A', '10.0.0.1'],
    ['a private network of class B', '172.31.255.255'],
    ['a private network of class C', '192.168.1.1'],
    ['the carrier’s network', '100.64.0.1'],
    ['link-local', '169.254.1.1'],
    ['link-local in IPv6', '[fe80::1]'],
    ['site-local in IPv6', '[fec0::1]'],
    ['unique local in IPv6', '[fd12:3456::1]'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['benchmarking', '198.18.0.1'],
    ['AWS metadata', '169.254.169.254'],
    ['AWS metadata in IPv6', '[fd00:ec2::254]'],
    ['ECS credentials', '169.254.170.2'],
    ['Azure’s wire server', '168.63.129.16'],
    ['Alibaba metadata', '100.100.100.200'],
    ['Oracle metadata', '192.0.0.192'],
    ['AWS metadata mapped into IPv6', '[::ffff:169.254.169.254]'],
    ['AWS metadata in 6to4', '[2002:a9fe:a9fe::]'],
  ])('that is %s, %s, is refused before anything is dialled', async (_, host) => {
    expect(await attempt(`http://${host}/latest/meta-data`)).toMatchObject(REFUSED);
  });

  it('with a zone id is refused at load', async () => {
    await expect(call({ url: 'http://[fe80::1%25lo]/' })).rejects.toThrow('absolute URL');
  });

  it('is refused without telling the caller which address it was, and with telling the log', async () => {
    outside.name('inside.example.com', '10.1.2.3');
    const failure = await call({ url: 'http://inside.example.com/' }).catch((error: unknown) => error);
    if (!(failure instanceof ToolFailure)) throw new Error('expected a ToolFailure');
    const { message, details, cause } = failure;
    expect(JSON.stringify({ message, details })).not.toMatch(/10\.1\.2\.3|inside/);
    expect(String(cause)).toContain('10.1.2.3');
  });
});

describe('a range that the operator allows', () => {
  it('opens that range and no other', async () => {
    outside.route('10.1.2.3', good);
    const options = { url: 'http://10.1.2.3/x', allow_private: ['10.1.0.0/16'] };
    expect(await call(options)).toEqual({ data: '/x' });
    for (const host of ['10.2.0.1', '127.0.0.1', '[::1]', '192.168.0.1']) {
      await expect(call({ ...options, url: `http://${host}/` })).rejects.toMatchObject(DENIED);
    }
    expect(hits).toEqual([]);
  });

  it.each([
    ['a metadata service by a wide range', 'http://169.254.169.254/', '169.254.0.0/16'],
    ['a metadata service by everything', 'http://169.254.169.254/', '0.0.0.0/0'],
    ['a metadata service inside 6to4', 'http://[2002:a9fe:a9fe::1]/', '2002::/16'],
    ['this host', 'http://0.0.0.0/', '0.0.0.0/0'],
    ['loopback inside NAT64', 'http://[64:ff9b::7f00:1]/', '64:ff9b::/96'],
    ['IPv4 by a range of IPv6', 'http://127.0.0.1/', '::/0'],
  ])('does not open %s', async (_, url, range) => {
    expect(await attempt(url, [range])).toMatchObject(REFUSED);
  });

  it('opens a metadata service when it is that one address', async () => {
    outside.route('169.254.169.254', good);
    const options = { url: 'http://169.254.169.254/x', allow_private: ['169.254.169.254/32'] };
    expect(await call(options)).toEqual({ data: '/x' });
  });
});

describe('a name', () => {
  it.each([
    ['to a private address', ['10.0.0.1']],
    ['to a good and a bad address', [PUBLIC, '127.0.0.1']],
    ['to a bad IPv6 address after a good IPv4 one', [PUBLIC, '::1']],
    ['to a link-local address with a zone', ['fe80::1%eth0']],
    ['to loopback in an odd spelling', ['0x7f.1']],
    ['to an address mapped into IPv6', ['::ffff:169.254.169.254']],
    ['to something that is no address', ['localhost']],
  ])('that leads %s is refused', async (_, addresses) => {
    outside.name('rogue.example.com', ...addresses);
    expect(await attempt('http://rogue.example.com/')).toMatchObject(REFUSED);
  });

  it('that leads to this machine’s own public address is refused', async () => {
    outside.own.push('203.0.114.7', 'fe80::1%eth0');
    outside.name('self.example.com', '203.0.114.7');
    expect(await attempt('http://self.example.com/')).toMatchObject(REFUSED);
  });

  it('that is rebound to loopback after its check is looked up no second time', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    let questions = 0;
    const port = await servers.dns(() => answers[questions++] ?? []);
    const resolver = new Resolver({ timeout: 1_000, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    outside.answers('rebind.example.com', () => resolver.resolve4('rebind.example.com'));
    expect(await call({ url: 'http://rebind.example.com/x' })).toEqual({ data: '/x' });
    expect(questions).toBe(1);
    // A connection of its own asks again, and is refused.
    await http.close();
    http = new UndiciHttpClient({ outside });
    await expect(call({ url: 'http://rebind.example.com/x' })).rejects.toMatchObject(DENIED);
    expect({ questions, hits, dialled: outside.dialled.length }).toEqual({
      questions: 2,
      hits: [],
      dialled: 1,
    });
  });

  it('whose connection ends elsewhere than dialled is cut off before a byte is sent', async () => {
    let received = 0;
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections += 1;
      socket.on('data', (chunk) => (received += chunk.length));
    });
    const inner = await servers.listen(server);
    for (const shownAs of ['127.0.0.1', '169.254.169.254', '']) {
      outside.name('odd.example.com', '93.184.216.35').route('93.184.216.35', inner, shownAs);
      await expect(call({ url: 'https://odd.example.com/' })).rejects.toMatchObject(DENIED);
    }
    await expect.poll(() => connections).toBe(3);
    expect(received).toBe(0);
  });

  it('that never resolves ends with the time for connecting', async () => {
    await http.close();
    http = new UndiciHttpClient({ outside, connectTimeoutMs: 50 });
    outside.answers('tarpit.example.com', () => new Promise(() => {}));
    await expect(call({ url: 'http://tarpit.example.com/' })).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'CONNECT_FAILED',
    });
  });
});

describe('the list of allowed hosts', () => {
  it.each([
    ['a name that only ends alike', '*.example.com', 'http://evil-example.com/'],
    ['a name that only begins alike', 'api.example.com', 'http://api.example.com.evil.net/'],
    ['the domain above a wildcard', '*.example.com', 'http://example.com/'],
    ['another port', 'api.example.com:443', 'http://api.example.com:8080/'],
    ['a user that looks like the host', 'api.example.com', 'http://api.example.com@evil.net/'],
  ])('does not let through %s', async (_, pattern, target) => {
    outside.name('evil-example.com', PUBLIC).name('evil.net', PUBLIC).name('example.com', PUBLIC);
    outside.name('api.example.com.evil.net', PUBLIC);
    const fetch = http.fetch({ allowHosts: [pattern], allowPrivate: [] });
    await expect(fetch(target)).rejects.toThrow(/egress policy|includes credentials/);
    expect(outside.asked).toEqual([]);
  });

  it('cannot be left empty for a library that may be told any URL', () => {
    expect(() => http.fetch({ allowHosts: [], allowPrivate: [] })).toThrow('allowHosts');
  });

  it('must hold the connection’s own host', async () => {
    const connection = { base_url: 'https://api.example.com', allow_hosts: ['other.example.com'] };
    await expect(callHttp({ http, options: { path: '/' }, connection })).rejects.toThrow('allowed ones');
  });
});

describe('ports', () => {
  it.each(['http://api.example.com:22/', 'http://api.example.com:6379/', 'https://api.example.com:8443/'])(
    'other than 80 and 443 are refused at load where the declaration names one: %s',
    async (url) => {
      await expect(call({ url })).rejects.toThrow(/leads to port \d+. Only 80 and 443 .* add allow_ports/);
      const connection = { base_url: url.slice(0, -1) };
      await expect(callHttp({ http, options: { path: '/' }, connection })).rejects.toThrow('"upstream"');
      expect(outside.asked).toEqual([]);
    },
  );

  it('are reached where the operator lists them, and no others', async () => {
    expect(await call({ url: 'http://api.example.com:8080/x', allow_ports: [8080] })).toEqual({ data: '/x' });
    expect(await call({ url: 'http://api.example.com:8081/x', allow_ports: ['8080-8089'] })).toEqual({
      data: '/x',
    });
    await expect(call({ url: 'http://api.example.com:8090/x', allow_ports: ['8080-8089'] })).rejects.toThrow(
      'port 8090',
    );
    expect(outside.dialled.map(({ port }) => port)).toEqual([8080, 8081]);
  });

  it('0 is none, and never stands for the usual one', async () => {
    await expect(call({ url: 'http://api.example.com:0/x', allow_ports: ['1-65535'] })).rejects.toThrow(
      'found 0',
    );
    const fetch = http.fetch({ allowHosts: ['api.example.com'], allowPorts: ['1-65535'], allowPrivate: [] });
    await expect(fetch('http://api.example.com:0/x')).rejects.toMatchObject(DENIED);
    expect(outside.dialled).toEqual([]);
  });

  it('of a token endpoint are held to the same', async () => {
    const auth = {
      type: 'oauth2_client_credentials',
      token_url: 'https://api.example.com:9000/token',
      client_id: 'a',
      client_secret: 'b',
    };
    const connection = { base_url: 'https://api.example.com', auth };
    await expect(callHttp({ http, options: { path: '/' }, connection })).rejects.toThrow('token_url');
  });

  it('that a library is told by its server are refused when it connects', async () => {
    const fetch = http.fetch({ allowHosts: ['api.example.com'], allowPrivate: [] });
    await expect(fetch('http://api.example.com:22/')).rejects.toMatchObject(DENIED);
    expect(outside.asked).toEqual([]);
  });

  it('that one policy opened are not open for another', async () => {
    const url = 'http://api.example.com:8080/x';
    const open = http.fetch({ allowHosts: ['api.example.com'], allowPorts: [8080], allowPrivate: [] });
    expect((await open(url)).status).toBe(200);
    const closed = http.fetch({ allowHosts: ['api.example.com'], allowPrivate: [] });
    await expect(closed(url)).rejects.toMatchObject(DENIED);
  });
});

describe('a connection that is open already', () => {
  it('is not handed to a tool of another policy', async () => {
    const inside = await servers.http((request, response) => {
      hits.push(request.url ?? '');
      response.setHeader('content-type', 'text/plain').end('ok');
    });
    outside.name('shared.example.com', '10.0.0.9').route('10.0.0.9', inside);
    const url = 'http://shared.example.com/';
    expect(await call({ url, allow_private: ['10.0.0.0/8'] })).toEqual({ data: 'ok' });
    await expect(call({ url })).rejects.toMatchObject(DENIED);
    expect(hits).toEqual(['/']);
    expect(await call({ url, allow_private: ['10.0.0.0/8'] })).toEqual({ data: 'ok' });
    // What its own policy dialled, twice at most; nothing was dialled for the other.
    expect(outside.dialled.length).toBeLessThanOrEqual(2);
  });

  it('is closed when too many policies hold connections, and calls that run on it come to their end', async () => {
    await http.close();
    http = new UndiciHttpClient({ outside, maxPolicies: 1 });
    const first = call({ url: 'http://api.example.com/1' });
    const second = call({ url: 'http://api.example.com/2', allow_private: ['10.0.0.0/8'] });
    expect(await Promise.all([first, second])).toEqual([{ data: '/1' }, { data: '/2' }]);
    expect(await call({ url: 'http://api.example.com/3' })).toEqual({ data: '/3' });
    expect(outside.dialled).toHaveLength(3);
  });
});

describe('a redirect', () => {
  it.each([
    ['to loopback', 'http://127.0.0.1/'],
    ['to a metadata service', 'http://169.254.169.254/latest/meta-data/iam'],
    ['to another scheme', 'file:///etc/passwd'],
    ['without a scheme', '//169.254.169.254/'],
  ])('%s is refused and not followed', async (_, location) => {
    const url = await servers.http((_request, response) => response.writeHead(307, { location }).end());
    outside.route(PUBLIC, url);
    await expect(call({ url: 'http://api.example.com/' })).rejects.toMatchObject({
      reason: 'REDIRECT_REFUSED',
    });
    const fetch = http.fetch({ allowHosts: ['api.example.com'], allowPrivate: [] });
    await expect(fetch('http://api.example.com/')).rejects.toMatchObject({ reason: 'REDIRECT_REFUSED' });
    expect(hits).toEqual([]);
  });
});

describe('a proxy in the environment', () => {
  it.each(['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])('%s is not asked', async (name) => {
    const proxy = await servers.http((request, response) => {
      hits.push(request.url ?? '');
      response.end();
    });
    const before = { ...process.env };
    Object.assign(process.env, { [name]: proxy, NODE_USE_ENV_PROXY: '1' });
    try {
      await http.close();
      http = new UndiciHttpClient({ outside });
      expect(await call({ url: 'http://api.example.com/x' })).toEqual({ data: '/x' });
    } finally {
      process.env = before;
    }
    expect(hits).toEqual([]);
  });
});
