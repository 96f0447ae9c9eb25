// Name servers that are silent, wrong or away: what becomes of who asks for their names, and of everybody else.
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NameResolver, type NameResolverOptions } from '../../src/infra/dns/name-resolver.ts';
import { resolvingSocket } from '../../src/infra/dns/resolving-socket.ts';
import { realOutside } from '../../src/infra/http/guarded-connector.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import type { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { FakeOutside } from '../helpers/fake-outside.ts';
import { callHttp } from '../helpers/http-kit.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const PUBLIC = '93.184.216.34';
/** Longer than any test: only giving up ends a wait. */
const FOREVER_MS = 600_000;

let servers: LoopbackServers;
let dir: string;
let asked: string[];
let names: NameResolver;
let http: UndiciHttpClient;
const given = new Map<string, readonly string[]>();

/** A name server that says what `given` holds, and is silent about every name that begins with "silent". */
async function world(options: NameResolverOptions = {}): Promise<void> {
  const port = await servers.dns((name) => {
    asked.push(name);
    return name.startsWith('silent') ? undefined : (given.get(name) ?? []);
  });
  names = new NameResolver({
    servers: [`127.0.0.1:${port}`],
    hostsFile: join(dir, 'hosts'),
    resolvConf: join(dir, 'resolv.conf'),
    ...options,
  });
  const upstream = await servers.http((_, response) =>
    response.setHeader('content-type', 'application/json').end('"here"'),
  );
  const far = new FakeOutside().route(PUBLIC, upstream);
  http = new UndiciHttpClient({ outside: { ...realOutside(names), dial: far.dial.bind(far) } });
}

beforeEach(() => {
  servers = new LoopbackServers();
  dir = tempDir();
  asked = [];
  given.clear();
  given.set('good.example', [PUBLIC]);
});

afterEach(async () => {
  await http.close();
  await servers.close();
  removeDir(dir);
});

const call = (host: string, signal?: AbortSignal) =>
  callHttp({ http, options: { url: `http://${host}/` } }, {}, signal);

describe('a name server that never answers', () => {
  it('holds up no call to another name, however many wait for it', async () => {
    await world({ timeoutMs: FOREVER_MS });
    const over = new AbortController();
    const stuck = Array.from({ length: 32 }, (_, n) =>
      call(`silent-${n}.example`, over.signal).catch((error: unknown) => error),
    );
    for (let n = 0; n < 3; n += 1) expect(await call('good.example')).toEqual({ data: 'here' });
    over.abort(new Error('given up'));
    for (const each of await Promise.all(stuck)) expect(each).toMatchObject({ message: 'given up' });
  });

  it('is UNAVAILABLE, DNS_TIMEOUT after its time: nothing was sent', async () => {
    await world({ timeoutMs: 150 });
    await expect(call('silent.example')).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'DNS_TIMEOUT',
      partialSideEffects: false,
    });
    expect(names.isPending('silent.example')).toBe(false);
  });

  it('is asked once for all who wait for one name', async () => {
    await world({ timeoutMs: 150 });
    const all = await Promise.allSettled(Array.from({ length: 200 }, () => names.resolve('silent.example')));
    expect(new Set(all.map((each) => each.status))).toEqual(new Set(['rejected']));
    // A and AAAA, each tried a few times at most.
    expect(asked.length).toBeLessThanOrEqual(8);
  });

  it('is what a call that runs out of time is told, as long as nothing was sent', async () => {
    await world({ timeoutMs: FOREVER_MS });
    const over = new AbortController();
    const questions: (() => ToolFailure | undefined)[] = [];
    const request = (origin: string) =>
      http.request({
        method: 'GET',
        origin,
        path: '/',
        headers: {},
        egress: { allowHosts: [], allowPrivate: [] },
        maxResponseBytes: 1_000,
        signal: over.signal,
        onWaiting: (why) => void questions.push(why),
      });
    const stuck = request('http://silent.example').catch((error: unknown) => error);
    await expect.poll(() => questions[0]?.()).toMatchObject({ type: 'UNAVAILABLE', reason: 'DNS_TIMEOUT' });
    await request('http://good.example');
    expect(questions[1]?.()).toBeUndefined();
    over.abort(new Error('over'));
    await stuck;
    expect(questions[0]?.()).toBeUndefined();
  });

  it('about IPv6 alone does not hide what it says of IPv4', async () => {
    await world({ timeoutMs: 300 });
    expect(await names.resolve('good.example')).toEqual([PUBLIC]);
  });
});

describe('a name', () => {
  it('of the hosts file needs no name server, and changes with the file', async () => {
    await world();
    writeFileSync(join(dir, 'hosts'), `${PUBLIC} inside.example inside\n`);
    expect(await call('inside.example')).toEqual({ data: 'here' });
    expect(await names.resolve('INSIDE')).toEqual([PUBLIC]);
    writeFileSync(join(dir, 'hosts'), '# nothing is here any more, and this is another length\n');
    await expect(names.resolve('inside.example')).rejects.toThrow('queryA');
    expect(asked).toContain('inside.example');
  });

  it('that is short is looked for in the search domains, in the order that ndots says', async () => {
    await world();
    writeFileSync(join(dir, 'resolv.conf'), 'search ns.svc.example svc.example\noptions ndots:2\n');
    given.set('crm.svc.example', [PUBLIC]);
    expect(await call('crm')).toEqual({ data: 'here' });
    expect([...new Set(asked)]).toEqual(['crm.ns.svc.example', 'crm.svc.example']);
    asked.length = 0;
    expect(await names.resolve('a.good.example').catch(() => 'none')).toBe('none');
    expect([...new Set(asked)]).toEqual([
      'a.good.example',
      'a.good.example.ns.svc.example',
      'a.good.example.svc.example',
    ]);
    asked.length = 0;
    expect(await names.resolve('good.example.')).toEqual([PUBLIC]);
    expect([...new Set(asked)]).toEqual(['good.example']);
  });

  it('that is nowhere is CONNECT_FAILED, and localhost is this machine', async () => {
    await world();
    await expect(call('nowhere.example')).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'CONNECT_FAILED',
    });
    expect(await names.resolve('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(await names.resolve('10.0.0.1')).toEqual(['10.0.0.1']);
    expect(asked.filter((name) => name.startsWith('localhost'))).toEqual([]);
  });

  it('is looked up in the same way by sockets of libraries, such as those to databases', async () => {
    await world();
    const origin = await servers.raw((socket) => socket.end('pong'));
    writeFileSync(join(dir, 'hosts'), '127.0.0.1 database\n');
    const socket = resolvingSocket(names);
    // As pg does it.
    (socket.connect as (port: number, host: string) => unknown)(Number(new URL(origin).port), 'database');
    socket.write('ping');
    const chunks: Buffer[] = [];
    for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('pong');
    const wrong = connect({ port: 1, host: 'nowhere.example', lookup: names.lookup });
    await expect(new Promise((_, reject) => wrong.once('error', reject))).rejects.toThrow('queryA');
  });
});
