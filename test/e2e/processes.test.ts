// Several processes on one port: connections are spread evenly, limits hold over all, one that dies is replaced, and probes,
// metrics and signals are those of all of them.
import { mkdtempSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { childrenOf, configured, GatewayProcess, isAlive, type Doors } from '../helpers/gateway-process.ts';
import { callTool } from '../helpers/rest-client.ts';
import { sharedStores, type Stores } from '../helpers/stores.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const KEY = createApiKey();
const SETTINGS = {
  auth: {
    keys: [
      {
        id: KEY.id,
        secret_sha256: KEY.secretHash.toString('hex'),
        tenant: 'acme',
        roles: ['platform_admin'],
      },
    ],
  },
  loaders: [{ type: 'yaml-file', paths: [resolve(import.meta.dirname, '../../config/tools.yaml')] }],
  executors: { python: { module_paths: [resolve(import.meta.dirname, '../../tools/python')] } },
  demo: { upstream: true },
};

let stores: Stores;
let dir: string;

beforeAll(async () => {
  stores = await sharedStores();
});

afterAll(async () => {
  await stores?.stop();
});

function started(settings: Readonly<Record<string, unknown>>): GatewayProcess {
  dir = mkdtempSync(join(tmpdir(), 'ute-processes-'));
  return new GatewayProcess(dir, configured(dir, { ...SETTINGS, ...settings }));
}

interface Ready {
  readonly status: string;
  readonly reason?: string;
  readonly processes: Readonly<Record<string, string>>;
  readonly degraded?: Readonly<Record<string, string>>;
}

describe('two processes on one port', () => {
  let gateway: GatewayProcess;
  let doors: Doors;

  beforeAll(async () => {
    gateway = started({ ...stores.settings, processes: 2 });
    doors = await gateway.ready();
  });

  afterAll(async () => {
    await gateway?.end();
    removeDir(dir);
  });

  const target = () => ({ url: doors.rest, key: KEY.text });
  const metrics = async () => (await fetch(doors.metrics)).text();
  const probe = async (url = doors.metrics.replace('/metrics', '')) => {
    const answer = await fetch(`${url}/readyz`);
    return { code: answer.status, body: (await answer.json()) as Ready };
  };
  /** Of each process, by its label. */
  const valueOf = async (series: string) => {
    const lines = (await metrics()).split('\n').filter((line) => line.startsWith(`${series}{`));
    const values = new Map<string, number>();
    for (const line of lines) {
      const process = /process="([^"]+)"/.exec(line)?.[1] ?? '';
      values.set(process, (values.get(process) ?? 0) + Number(line.slice(line.lastIndexOf(' '))));
    }
    return values;
  };

  /** One connection, over which `count` calls are made one after the other. */
  async function callsOver(connection: Socket, count: number): Promise<void> {
    const body = JSON.stringify({ arguments: { text: 'x' } });
    const request = `POST /v1/tools/echo/execute HTTP/1.1\r\nhost: a\r\nx-api-key: ${KEY.text}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    let text = '';
    connection.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    for (let done = 1; done <= count; done += 1) {
      connection.write(request);
      await eventually(() => text.split('HTTP/1.1 200').length - 1 === done, 'an answer');
    }
  }

  it('connections of one burst, and the calls over them, are spread evenly', async () => {
    const before = await valueOf('ute_tool_calls_total');
    const { port } = new URL(doors.rest);
    const connections = Array.from({ length: 40 }, () => connect(Number(port), '127.0.0.1'));
    await Promise.all(connections.map((each) => callsOver(each, 3)));
    for (const each of connections) each.destroy();
    const after = await valueOf('ute_tool_calls_total');
    const carried = ['1', '2'].map((one) => (after.get(one) ?? 0) - (before.get(one) ?? 0));
    expect(carried).toEqual([60, 60]);
  });

  it('none takes what is its own for a change of gateway.yaml', () => {
    expect(gateway.stdout).toContain('"process":2');
    expect(gateway.stdout).not.toContain('gateway.yaml was changed');
  });

  it('a scrape holds a set of series for each process, each metric described once, and how many there are', async () => {
    const text = await metrics();
    const described = text.split('\n').filter((line) => line.startsWith('# TYPE '));
    expect(new Set(described).size).toBe(described.length);
    expect([...(await valueOf('ute_build_info')).keys()]).toEqual(['1', '2']);
    expect([...(await valueOf('process_cpu_seconds_total')).keys()]).toEqual(['1', '2', 'primary']);
    expect(text).toContain('ute_processes{process="primary",state="wanted"} 2\n');
    expect(text).toContain('ute_processes{process="primary",state="serving"} 2\n');
    const open = await fetch(doors.metrics, {
      headers: { accept: 'application/openmetrics-text; version=1.0.0' },
    });
    const inOpen = await open.text();
    expect(inOpen.endsWith('\n# EOF\n')).toBe(true);
    expect(inOpen.split('# EOF')).toHaveLength(2);
  });

  it('both are replicas of each other, with journals of their own, and one of them runs an accepted call', async () => {
    // Each hears of the other at the latest with its next heartbeat, five seconds later.
    await eventually(async () => {
      const replicas = await fetch(`${doors.rest}/v1/admin/replicas`, { headers: { 'x-api-key': KEY.text } });
      expect(((await replicas.json()) as { replicas: unknown[] }).replicas).toHaveLength(2);
    });
    const id = await acceptedId(target(), 'echo', { text: 'later' });
    expect(await callWhen(target(), id)).toMatchObject({ status: 'succeeded' });
  });

  it('/readyz tells of all of them, on both ports', async () => {
    expect(await probe()).toMatchObject({ code: 200, body: { processes: { 1: 'serving', 2: 'serving' } } });
    expect(await probe(doors.rest)).toMatchObject({
      code: 200,
      body: { parts: { processes: { kind: '2 processes on the same ports', state: 'ok' } } },
    });
  });

  it('one that is killed is told of, and started again while the other serves', async () => {
    const [victim = 0] = childrenOf(gateway.pid);
    process.kill(victim, 'SIGKILL');
    await eventually(async () => {
      const { code, body } = await probe();
      expect(code).toBe(200);
      expect(body.degraded?.['processes']).toMatch(/^1 of 2 processes serve/);
    });
    expect(await callTool(target(), 'echo', { text: 'meanwhile' })).toMatchObject({ status: 200 });
    await eventually(async () =>
      expect((await probe()).body.processes).toEqual({ 1: 'serving', 2: 'serving' }),
    );
    expect(await metrics()).toContain('ute_process_restarts_total{process="primary"} 1\n');
    expect(childrenOf(gateway.pid)).toHaveLength(2);
    expect(childrenOf(gateway.pid)).not.toContain(victim);
  });

  it('a reload signal reaches both', async () => {
    const reloads = () => valueOf('ute_config_reloads_total');
    const before = await reloads();
    gateway.signal('SIGHUP');
    await eventually(async () => {
      const after = await reloads();
      for (const one of ['1', '2']) expect(after.get(one) ?? 0).toBeGreaterThan(before.get(one) ?? 0);
    });
  });

  it('told to stop, both end in good order, and so does the gateway', async () => {
    const children = childrenOf(gateway.pid);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(children.filter(isAlive)).toEqual([]);
    expect(gateway.stderr).toBe('');
  });
});

describe('processes that cannot share what they have to', () => {
  it('a number of them is refused without Redis or with the embedded database, with the reasons', async () => {
    const gateway = started({ processes: 2 });
    expect((await gateway.exited).code).toBe(1);
    expect(gateway.stderr).toContain('processes: is 2, and each process would count limits for itself');
    expect(gateway.stderr).toContain('processes: is 2, and only one process may hold the embedded database');
    removeDir(dir);
  });

  it('auto keeps one, and says why', async () => {
    const gateway = started({ processes: 'auto' });
    try {
      await gateway.ready();
      await eventually(() => expect(gateway.stdout).toContain('one process serves'));
      expect(gateway.stdout).toContain('only one process may hold the embedded database');
    } finally {
      await gateway.end();
      removeDir(dir);
    }
  });
});
