// The embedded database and its gateway, as programs: they end together, and a crash is recovered from in sight.
import { existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, assert, beforeEach, describe, expect, it, vi } from 'vitest';
import { readPidFile } from '../../src/infra/embedded-postgres/stale-server.ts';
import { childrenOf, configured, GatewayProcess, isAlive } from '../helpers/gateway-process.ts';
import { eventually } from '../helpers/eventually.ts';
import { lastingPort } from '../helpers/lasting-port.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const POLL = { timeout: 30_000, interval: 20 };

let dir: string;
const started: GatewayProcess[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-ground-'));
  writeFileSync(join(dir, 'tools.yaml'), 'tools: []\n');
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((gateway) => gateway.end()));
  await eventually(() => assert(!isAlive(serverPid()), 'the server is still there'));
  removeDir(dir);
});

function start(settings: Readonly<Record<string, unknown>> = {}): GatewayProcess {
  const loaders = [{ type: 'yaml-file', paths: [join(dir, 'tools.yaml')] }];
  const gateway = new GatewayProcess(dir, configured(dir, { loaders, ...settings }));
  started.push(gateway);
  return gateway;
}

const cluster = () => join(realpathSync(join(dir, 'data/postgres')), 'cluster');
const serverPid = () => (existsSync(join(dir, 'data/postgres')) ? (readPidFile(cluster())?.pid ?? 0) : 0);
const supervisorOf = (gateway: GatewayProcess) =>
  childrenOf(gateway.pid).find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('bin/postgres'),
  ) ?? 0;

async function stopped(gateway: GatewayProcess): Promise<void> {
  gateway.signal('SIGTERM');
  await gateway.exited;
}

describe('a gateway with an embedded database', () => {
  it('ends it when it is stopped', async () => {
    const gateway = start();
    await gateway.ready();
    const pid = serverPid();
    expect(isAlive(pid)).toBe(true);
    await stopped(gateway);
    expect(isAlive(pid)).toBe(false);
  });

  it('takes it along when it is killed', async () => {
    const gateway = start();
    await gateway.ready();
    const pid = serverPid();
    gateway.signal('SIGKILL');
    await gateway.exited;
    await expect.poll(() => isAlive(pid), POLL).toBe(false);
    await start().ready();
  });

  it('ends one at its start that was left behind, with what watched it killed too', async () => {
    const gateway = start();
    await gateway.ready();
    const pid = serverPid();
    // Stopped, it cannot see the other end; killed then, nobody is left who would end the server.
    gateway.signal('SIGSTOP');
    process.kill(supervisorOf(gateway), 'SIGKILL');
    gateway.signal('SIGKILL');
    await gateway.exited;
    expect(isAlive(pid)).toBe(true);
    const next = start();
    await next.ready();
    expect(isAlive(pid)).toBe(false);
    expect(next.stdout).toContain('of a gateway that was killed was still running: it was ended');
  });

  it('a second one on the same data_dir does not start, and says who holds it', async () => {
    const first = start();
    await first.ready();
    const second = start();
    expect(await second.exited).toMatchObject({ code: 1 });
    expect(second.stderr).toMatch(
      new RegExp(
        `the embedded database in .* is in use by process ${first.pid}: stop it, or set UTE_DATABASE_URL`,
      ),
    );
  });

  it('tells on /readyz that it recovers and how far it is, until it has', { timeout: 240_000 }, async () => {
    const reasons = new Set<string>();
    const recovers = /the database is recovering: (redo|database system was)/;
    const isTold = () => recovers.test([...reasons].join('\n'));
    // A busy machine may look too late, and find it recovered: another start has it recover again.
    for (let round = 0; round < 4 && !isTold(); round += 1) await recovered(reasons);
    expect([...reasons].join('\n')).toMatch(recovers);
  });
});

/** Loses the power of a gateway and its database, starts them again, and notes what it says until it is ready. */
async function recovered(reasons: Set<string>): Promise<void> {
  const first = start();
  await first.ready();
  await fillTheLog();
  const pid = serverPid();
  // As when the machine loses its power: neither of them can write anything more.
  process.kill(pid, 'SIGKILL');
  first.signal('SIGKILL');
  await first.exited;
  await eventually(() => !isAlive(pid), 'the end of the database');
  const port = await lastingPort();
  const next = start({ http: { port } });
  const isReady = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    const body = (await answer?.json().catch(() => undefined)) as { reason?: string } | undefined;
    if (answer?.status === 503 && body?.reason !== undefined) reasons.add(body.reason);
    return answer?.status;
  };
  await vi.waitFor(async () => assert((await isReady()) === 200, 'not ready'), {
    timeout: 60_000,
    interval: 1,
  });
  await next.ready();
  next.signal('SIGTERM');
  await next.exited;
}

/** So much that to read it again takes a moment. */
async function fillTheLog(): Promise<void> {
  const home = realpathSync(join(dir, 'data/postgres'));
  const client = new Client({
    host: join(home, 'socket'),
    user: 'ute',
    password: readFileSync(join(home, 'password'), 'utf8').trim(),
    database: 'postgres',
  });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('CHECKPOINT');
  await client.query('DROP TABLE IF EXISTS filler');
  await client.query('CREATE TABLE filler (n int PRIMARY KEY, text text)');
  await client.query("INSERT INTO filler SELECT n, repeat('x', 40) FROM generate_series(1, 700000) n");
  await client.end();
}
