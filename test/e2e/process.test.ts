// The built program as a process: first key, refused starts, signals, TLS. `npm test` builds it first.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { grpcDoor } from '../helpers/doors.ts';
import { childrenOf, configured, GatewayProcess, isAlive } from '../helpers/gateway-process.ts';
import { callTool, request } from '../helpers/rest-client.ts';
import { selfSignedCertificate } from '../helpers/self-signed-certificate.ts';
import { ECHO_HANDLER, javascriptTool, removeDir, tempDir, writeTools } from '../helpers/temp-tools.ts';

const HOLD = resolve(import.meta.dirname, '../fixtures/process');
const POLL = { timeout: 10_000, interval: 20 };

let dir: string;
const started: GatewayProcess[] = [];

beforeEach(() => {
  dir = tempDir();
  writeFileSync(join(dir, 'echo.js'), ECHO_HANDLER);
});

afterEach(async () => {
  for (const each of started.splice(0)) await each.end();
  removeDir(dir);
});

function start(env: Readonly<Record<string, string>>): GatewayProcess {
  const gateway = new GatewayProcess(dir, env);
  started.push(gateway);
  return gateway;
}

const echoTools = () => ({
  loaders: [{ type: 'yaml-file', paths: [writeTools(dir, javascriptTool('echo', './echo.js'))] }],
});
/** Outside the sandbox: these tools tell by files of the test's own folder where they are. */
const holdTools = () => ({
  loaders: [{ type: 'yaml-file', paths: [join(HOLD, 'tools.yaml')] }],
  executors: { python: { sandbox: 'off' } },
});
const keysIn = (text: string) =>
  [...text.matchAll(/ute_live_\w{8}_[\w-]{43}_[0-9a-f]{8}/g)].map(([key]) => key);

async function stopped(gateway: GatewayProcess) {
  gateway.signal('SIGTERM');
  return gateway.exited;
}

describe('a question on the command line', () => {
  it.each([
    ['--help', /UTE_CONFIG/],
    ['--version', /^\d+\.\d+\.\d+\n$/],
  ])('%s is answered, and nothing starts', (asked, answer) => {
    const program = resolve(import.meta.dirname, '../../dist/bundle/main.js');
    const { status, stdout } = spawnSync(process.execPath, [program, asked], { cwd: dir, encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout).toMatch(answer);
    expect(existsSync(join(dir, 'data'))).toBe(false);
  });
});

describe('the first key', () => {
  it('is printed once, on stderr alone, and works in every later start', async () => {
    const env = configured(dir, echoTools());
    const first = start(env);
    const { rest } = await first.ready();
    const [key = '', ...more] = keysIn(first.stderr);
    expect(more).toEqual([]);
    expect(await callTool({ url: rest, key }, 'echo', { n: 1 })).toMatchObject({
      status: 200,
      body: { data: { n: 1 } },
    });
    expect(await callTool({ url: rest, key: `${key.slice(0, -1)}x` }, 'echo')).toMatchObject({ status: 401 });
    expect(await stopped(first)).toEqual({ code: 0, signal: null });
    expect(first.stdout).not.toContain(key);

    const second = start(env);
    const again = await second.ready();
    expect(await callTool({ url: again.rest, key }, 'echo', { n: 2 })).toMatchObject({ status: 200 });
    expect(keysIn(second.stderr + second.stdout)).toEqual([]);
  });

  it('is kept as a hash, in a file for the owner alone', async () => {
    const gateway = start(configured(dir, echoTools()));
    await gateway.ready();
    const [key = ''] = keysIn(gateway.stderr);
    const secret = key.slice('ute_live_'.length + 9, -9);
    const file = join(dir, 'data', 'keys.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(secret).toHaveLength(43);
    expect(readFileSync(file, 'utf8')).not.toContain(secret);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([
      expect.objectContaining({ id: key.slice(9, 17), roles: ['admin'] }),
    ]);
  });
});

describe('an administrator', () => {
  const agentKey = () => {
    const { id, secretHash } = createApiKey();
    return { id, secret_sha256: secretHash.toString('hex'), tenant: 'acme', roles: ['agent'] };
  };

  it('is made once where there are keys for agents alone, and ends with one in gateway.yaml', async () => {
    const [agent, tools] = [agentKey(), echoTools()];
    const env = configured(dir, { ...tools, auth: { keys: [agent] } });
    const first = start(env);
    const { rest } = await first.ready();
    const [key = '', ...more] = keysIn(first.stderr);
    expect(more).toEqual([]);
    const target = { url: rest, key };
    expect((await request(target, 'GET', '/v1/admin/replicas')).status).toBe(200);
    await stopped(first);

    const second = start(env);
    const again = { url: (await second.ready()).rest, key };
    expect(keysIn(second.stderr + second.stdout)).toEqual([]);
    expect((await request(again, 'GET', '/v1/keys')).status).toBe(200);
    configured(dir, { ...tools, auth: { keys: [agent, { ...agentKey(), roles: ['admin'] }] } });
    second.signal('SIGHUP');
    await expect.poll(async () => (await request(again, 'GET', '/v1/keys')).status, POLL).toBe(401);
  });

  it('is not made where the database has one', async () => {
    const env = configured(dir, echoTools());
    const first = start(env);
    const { rest } = await first.ready();
    const [key = ''] = keysIn(first.stderr);
    const wish = { name: 'admin', tenant: null, roles: ['platform_admin'] };
    const made = await request<{ key: string }>({ url: rest, key }, 'POST', '/v1/keys', wish);
    expect(made.status).toBe(201);
    await stopped(first);
    unlinkSync(join(dir, 'data', 'keys.json'));

    const second = start(env);
    const target = { url: (await second.ready()).rest, key: made.body.key };
    expect(keysIn(second.stderr + second.stdout)).toEqual([]);
    expect(existsSync(join(dir, 'data', 'keys.json'))).toBe(false);
    expect((await request(target, 'GET', '/v1/keys')).status).toBe(200);
  });
});

describe('the data directory', () => {
  // Of the kernel's own file systems: not even root may write there. /proc says of a new folder that the one above it is missing.
  it.each([
    ['/sys/ute-data', 'may not write there'],
    ['/proc/ute-data', 'no folder can be made there'],
    ['/dev/null', 'a file is in its place'],
    ['/dev/null/ute-data', 'a file is in'],
  ])(
    '%s, which cannot be written, is named before anything is started, with the setting and why',
    async (closed, why) => {
      const gateway = start({ ...configured(dir, echoTools()), UTE_DATA_DIR: closed });
      expect(await gateway.exited).toEqual({ code: 1, signal: null });
      expect(gateway.stderr).toContain(`the data directory ${closed} cannot be written (`);
      expect(gateway.stderr).toContain(why);
      expect(gateway.stderr).toContain('UTE_DATA_DIR');
      expect(gateway.stderr.trimEnd().split('\n')).toHaveLength(1);
    },
  );

  it('with a keys.json that was emptied: the start says which file, and makes no new key over it', async () => {
    const env = configured(dir, echoTools());
    const file = join(dir, 'data', 'keys.json');
    writeFileSync(file, '[]');
    const gateway = start(env);
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.stderr).toContain(`${file} cannot be used: it: must hold at least one key`);
    expect(readFileSync(file, 'utf8')).toBe('[]');
  });
});

describe('SIGHUP', () => {
  it('has the keys of gateway.yaml read before the tools are loaded again', async () => {
    const made = [createApiKey(), createApiKey()];
    const [stays, goes] = made.map(({ text }) => text);
    const stored = made.map(({ id, secretHash }) => ({
      id,
      secret_sha256: secretHash.toString('hex'),
      tenant: 'acme',
      roles: ['agent'],
    }));
    const tools = echoTools();
    const gateway = start(configured(dir, { ...tools, auth: { keys: stored } }));
    const { rest } = await gateway.ready();
    const statusOf = async (key = '') => (await callTool({ url: rest, key }, 'echo')).status;
    expect([await statusOf(stays), await statusOf(goes)]).toEqual([200, 200]);
    const loads = () => gateway.stdout.split('"msg":"tools loaded"').length - 1;
    const before = loads();
    configured(dir, { ...tools, auth: { keys: stored.slice(0, 1) } });
    gateway.signal('SIGHUP');
    await expect.poll(loads, POLL).toBeGreaterThan(before);
    expect([await statusOf(stays), await statusOf(goes)]).toEqual([200, 401]);
    expect(gateway.stdout).toContain('the API keys were changed');
    expect(await stopped(gateway)).toEqual({ code: 0, signal: null });
  });

  it('keeps the keys of before where gateway.yaml cannot be read any more', async () => {
    const gateway = start(configured(dir, echoTools()));
    const { rest } = await gateway.ready();
    const [key = ''] = keysIn(gateway.stderr);
    writeFileSync(join(dir, 'gateway.yaml'), 'auth: { keys: [');
    gateway.signal('SIGHUP');
    await expect.poll(() => gateway.stdout, POLL).toContain('cannot be used as it is now');
    expect(await callTool({ url: rest, key }, 'echo')).toMatchObject({ status: 200 });
  });
});

/** A gateway with one call held in a python worker (by REST) and one held in its own process (by gRPC). */
async function busyGateway() {
  // Longer than any test: what waits for it does not end in time.
  const gateway = start(configured(dir, { ...holdTools(), shutdown: { drain_ms: 300_000 } }));
  const doors = await gateway.ready();
  const [key = ''] = keysIn(gateway.stderr);
  const [worker, inside] = [join(dir, 'worker'), join(dir, 'inside')];
  const grpc = grpcDoor({ service: { grpcAddress: doors.grpc } });
  const calls = Promise.allSettled([
    callTool({ url: doors.rest, key }, 'hold_in_worker', { file: worker }),
    grpc.call({ tool: 'hold_in_gateway', argumentsJson: JSON.stringify({ file: inside }), key }),
  ]).finally(() => grpc.close());
  await expect
    .poll(() => existsSync(`${worker}.entered`) && existsSync(`${inside}.entered`), POLL)
    .toBe(true);
  const workers = childrenOf(gateway.pid);
  expect(workers.length).toBeGreaterThan(0);
  function letGo(): void {
    for (const file of [worker, inside]) writeFileSync(file, '');
  }
  return { gateway, doors, calls, workers, letGo, key };
}

/** 503, or no answer at all because nothing listens any more. */
const readiness = (url: string) =>
  fetch(`${url}/readyz`).then(
    ({ status }) => status,
    () => 'refused',
  );

describe('SIGTERM', () => {
  it('lets the calls in flight of both doors finish, takes no new ones, exits 0 and leaves no worker', async () => {
    const { gateway, doors, calls, workers, letGo, key } = await busyGateway();
    expect(await readiness(doors.rest)).toBe(200);
    gateway.signal('SIGTERM');
    await expect.poll(() => readiness(doors.rest), POLL).not.toBe(200);
    expect([503, 'refused']).toContain(await readiness(doors.rest));
    const late = grpcDoor({ service: { grpcAddress: doors.grpc } });
    expect(await late.call({ tool: 'nobody', argumentsJson: '{}', timeoutMs: 1_000, key })).toMatchObject({
      ok: false,
      status: 14,
    });
    late.close();

    letGo();
    const [rest, grpc] = await calls;
    expect(rest).toMatchObject({
      status: 'fulfilled',
      value: { status: 200, body: { ok: true, data: 'let go' } },
    });
    expect(grpc).toMatchObject({ status: 'fulfilled', value: { ok: true, data: 'let go' } });
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(workers.filter(isAlive)).toEqual([]);
  });

  it('cuts off calls that outlast the drain time, and still leaves no worker', async () => {
    const gateway = start(configured(dir, { ...holdTools(), shutdown: { drain_ms: 300 } }));
    const { rest } = await gateway.ready();
    const [key = ''] = keysIn(gateway.stderr);
    const file = join(dir, 'never');
    const call = callTool({ url: rest, key }, 'hold_in_worker', { file });
    await expect.poll(() => existsSync(`${file}.entered`), POLL).toBe(true);
    const workers = childrenOf(gateway.pid);
    const exit = await stopped(gateway);
    expect(exit).toEqual({ code: 0, signal: null });
    expect((await call).body).toMatchObject({ ok: false });
    expect(workers.filter(isAlive)).toEqual([]);
  });

  it('a second one ends the process at once', async () => {
    const { gateway, doors, calls, workers } = await busyGateway();
    gateway.signal('SIGTERM');
    await expect.poll(() => readiness(doors.rest), POLL).not.toBe(200);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    await calls;
    await expect.poll(() => workers.filter(isAlive), POLL).toEqual([]);
  });
});

describe('a start that is refused', () => {
  it('no authentication on an address that others can reach', async () => {
    const gateway = start({ ...configured(dir, echoTools()), UTE_AUTH: 'none', UTE_HOST: '0.0.0.0' });
    expect(await gateway.exited).toMatchObject({ code: 1 });
    expect(gateway.stderr).toMatch(/auth\.mode.*only for loopback.*0\.0\.0\.0/);
    expect(gateway.stdout).not.toContain('"ready"');
  });

  it('reports every bad setting in one start, each with its place', async () => {
    const env = configured(dir, echoTools());
    writeFileSync(env['UTE_CONFIG'] ?? '', 'http:\n  port: 70000\nlimts: {}\nlog:\n  level: loud\n');
    const gateway = start({ ...env, UTE_GRPC_PORT: 'many', UTE_HTPT_PORT: '1' });
    expect(await gateway.exited).toMatchObject({ code: 1 });
    const places = [
      /gateway\.yaml:2:3 +http\.port/,
      /gateway\.yaml:3:1 +limts.*limits/,
      /gateway\.yaml:5:3 +log\.level/,
      /UTE_GRPC_PORT/,
      /UTE_HTPT_PORT/,
    ];
    for (const place of places) expect(gateway.stderr).toMatch(place);
  });

  it('ports that are taken are named at once, all of them, each with its setting', async () => {
    const others = await Promise.all(
      [1, 2].map(async () => {
        const server = createServer();
        await once(server.listen(0, '127.0.0.1'), 'listening');
        return server;
      }),
    );
    const [http, metrics] = others.map((server) => (server.address() as AddressInfo).port);
    const env = configured(dir, { loaders: [{ type: 'yaml-file', paths: [join(dir, 'none.yaml')] }] });
    const gateway = start({ ...env, UTE_HTTP_PORT: `${http}`, UTE_METRICS_PORT: `${metrics}` });
    expect(await gateway.exited).toMatchObject({ code: 1 });
    const taken = 'which another program on 127.0.0.1 uses: end that, or set another';
    expect(gateway.stderr).toBe(
      `unified-tool-executor could not start: http.port (UTE_HTTP_PORT) is ${http}, ${taken}\n` +
        `metrics.port (UTE_METRICS_PORT) is ${metrics}, ${taken}\n`,
    );
    // Before the tools are read, the first key is made and the database is started.
    expect(existsSync(join(dir, 'data/keys.json'))).toBe(false);
    for (const server of others) server.close();
  });

  it('a tools file that cannot be taken is named with line and column', async () => {
    writeTools(dir, javascriptTool('echo', './echo.js'), javascriptTool('broken', './missing.js'));
    const gateway = start(
      configured(dir, { loaders: [{ type: 'yaml-file', paths: [join(dir, 'tools.yaml')] }] }),
    );
    expect(await gateway.exited).toMatchObject({ code: 1 });
    expect(gateway.stderr).toMatch(/tools\.yaml:11:\d+ +broken +implementation_config.*missing\.js/);
  });

  it('a PostgreSQL that refuses connections, or accepts them and says nothing, is named in one line, and the exit code is 1', async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const silent = (server.address() as AddressInfo).port;
    const startOn = async (port: number) => {
      const own = join(dir, String(port));
      mkdirSync(own);
      const database = { url: `postgres://ute@127.0.0.1:${port}/ute` };
      const gateway = start(configured(own, { ...echoTools(), database }));
      expect(await gateway.exited).toEqual({ code: 1, signal: null });
      expect(gateway.stdout).not.toContain('"ready"');
      return gateway.stderr.split('\n').filter((line) => line.includes('could not start'));
    };
    // Each gives the database twenty seconds: side by side.
    const told = await Promise.all([startOn(1), startOn(silent)]);
    server.close();
    expect(told).toEqual([
      [expect.stringMatching(/the database .*ECONNREFUSED/)],
      [expect.stringMatching(/the database .*timeout/i)],
    ]);
  });
});

it('with a certificate, both doors speak TLS and nothing else', async () => {
  const { cert, key: certificateKey } = selfSignedCertificate();
  writeFileSync(join(dir, 'cert.pem'), cert);
  writeFileSync(join(dir, 'key.pem'), certificateKey, { mode: 0o600 });
  const gateway = start(
    configured(dir, { ...echoTools(), tls: { cert_file: 'cert.pem', key_file: 'key.pem' } }),
  );
  const doors = await gateway.ready();
  const [key = ''] = keysIn(gateway.stderr);
  expect(doors.rest).toMatch(/^https:/);
  expect(await statusOver(doors.rest, cert)).toBe(200);

  const secure = grpcDoor({ service: { grpcAddress: doors.grpc }, rootCertificate: cert });
  expect(await secure.call({ tool: 'echo', argumentsJson: '{"n":1}', key })).toMatchObject({
    ok: true,
    data: { n: 1 },
  });
  secure.close();

  await expect(request({ url: doors.rest.replace('https', 'http'), key }, 'GET', '/readyz')).rejects.toThrow(
    'fetch failed',
  );
  const plain = grpcDoor({ service: { grpcAddress: doors.grpc } });
  const decision = await plain.call({ tool: 'echo', argumentsJson: '{}', key, timeoutMs: 1_500 });
  expect(decision.ok).toBe(false);
  expect(decision.reason).toBeUndefined();
  plain.close();
});

function statusOver(url: string, ca: Buffer): Promise<number | undefined> {
  const agent = new Agent({ ca, keepAlive: false });
  return new Promise((done, fail) => {
    const exchange = httpsRequest(`${url}/readyz`, { agent }, (response) => {
      response.resume().once('end', () => done(response.statusCode));
    });
    exchange.once('error', fail).end();
  });
}
