// Gateways over PostgreSQL as it is run for real: behind PgBouncer in transaction mode, over TLS, with a read replica.
import { chmodSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { certificateAuthority } from '../helpers/certificates.ts';
import { eventually } from '../helpers/eventually.ts';
import { startPgBouncer, type PgBouncer } from '../helpers/pgbouncer.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { callTool, metricValue, request } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { lastRun, makeSchedule } from '../helpers/schedule-client.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const TOOLS = ['config/tools.yaml'];
const KEY = createApiKey();
const AUTH = {
  keys: [
    { id: KEY.id, secret_sha256: KEY.secretHash.toString('hex'), tenant: 'acme', roles: ['platform_admin'] },
  ],
};
const OWNER = 'root_of_all';
const WRITER = 'ute_adds';

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres(`CREATE ROLE ${WRITER} LOGIN`);
});

afterAll(() => postgres?.stop());

const startedOn = (database: object) => startGateway({ tools: TOOLS, auth: AUTH, settings: { database } });
const targetOf = ({ url }: RunningGateway) => ({ url, key: KEY.text });

describe('behind PgBouncer in transaction mode', () => {
  let pooler: PgBouncer;
  let gateways: RunningGateway[] = [];

  beforeAll(async () => {
    pooler = await startPgBouncer(postgres.port, [OWNER, WRITER]);
    const database = { url: pooler.url(WRITER), owner_url: pooler.url(OWNER), pooler: 'transaction' };
    // Both migrate, or wait for it, through it.
    gateways = await Promise.all([startedOn(database), startedOn(database)]);
  });

  afterAll(async () => {
    await Promise.all(gateways.map((each) => each.stop()));
    await pooler?.stop();
  });

  it('calls, accepted calls and schedules of two gateways at once are kept and run', async () => {
    const [one, two] = gateways.map(targetOf);
    if (one === undefined || two === undefined) throw new Error('there are two');
    const schedule = await makeSchedule(one, { tool: 'echo', arguments: { text: 's' }, schedule: 'in 1s' });
    const texts = Array.from({ length: 40 }, (_, at) => `${at}`);
    const calls = texts.map((text, at) => callTool(at % 2 === 0 ? one : two, 'echo', { text }));
    expect((await Promise.all(calls)).every(({ status }) => status === 200)).toBe(true);
    const ids = await Promise.all(
      texts.map((text, at) => acceptedId(at % 2 === 0 ? one : two, 'echo', { text })),
    );
    for (const id of ids) expect(await callWhen(two, id)).toMatchObject({ status: 'succeeded' });
    expect(await lastRun(one, schedule.body.id)).toMatchObject({ status: 'succeeded' });
  });

  it('the history and the audit trail of both are whole', async () => {
    const [one] = gateways.map(targetOf);
    if (one === undefined) throw new Error('there are two');
    await eventually(async () => {
      const { status, body } = await request<{ calls: unknown[] }>(one, 'GET', '/v1/calls?page_size=1000');
      expect([status, body]).toMatchObject([200, { calls: expect.any(Array) }]);
      expect(body.calls.length).toBeGreaterThanOrEqual(81);
    });
    expect((await request(one, 'GET', '/v1/audit?page_size=10')).status).toBe(200);
    for (const each of gateways)
      expect(await metricValue(each.service.metricsUrl, 'ute_degraded{component="database"}')).toBe(0);
  });
});

describe('over TLS', () => {
  let dir: string;
  let gateway: RunningGateway | undefined;
  const authority = certificateAuthority();

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'ute-pg-tls-'));
    const { cert, key } = authority.sign('/CN=postgres', ['DNS.1 = localhost']);
    for (const [name, content] of [
      ['ca.pem', authority.cert],
      ['server.pem', cert],
      ['server.key', key],
    ] as const) {
      writeFileSync(join(dir, name), content);
      chmodSync(join(dir, name), 0o600);
      if (process.getuid?.() === 0 && name !== 'ca.pem') chownSync(join(dir, name), 65_534, 65_534);
    }
    chmodSync(dir, 0o755);
    await postgres.sql(`ALTER SYSTEM SET ssl_cert_file = '${join(dir, 'server.pem')}'`);
    await postgres.sql(`ALTER SYSTEM SET ssl_key_file = '${join(dir, 'server.key')}'`);
    await postgres.sql('ALTER SYSTEM SET ssl = on');
    await postgres.sql('SELECT pg_reload_conf()');
    await eventually(async () => (await postgres.sql('SHOW ssl'))[0]?.['ssl'] === 'on');
  });

  afterAll(async () => {
    await gateway?.stop();
    authority.remove();
    removeDir(dir);
  });

  it('a server that a CA of the settings vouches for is used, encrypted', async () => {
    const url = postgres.url().replace('127.0.0.1', 'localhost');
    gateway = await startedOn({ url, ssl: 'verify-full', ssl_ca_file: join(dir, 'ca.pem') });
    expect(await callTool(targetOf(gateway), 'echo', { text: '1' })).toMatchObject({ status: 200 });
    const rows = await postgres.sql(
      "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'unified-tool-executor'",
    );
    expect(rows).toContainEqual({ ssl: true });
  });

  it('one that nobody vouches for is not', async () => {
    const url = postgres.url().replace('127.0.0.1', 'localhost');
    await expect(startedOn({ url, ssl: 'verify-full' })).rejects.toThrow(/certificate/);
  });
});

describe('with a read replica', () => {
  let standby: Awaited<ReturnType<Postgres['standby']>>;
  let gateway: RunningGateway;

  beforeAll(async () => {
    standby = await postgres.standby();
    gateway = await startedOn({ url: postgres.url(), replica_url: standby.url() });
  });

  afterAll(async () => {
    await gateway?.stop();
    await standby?.stop();
  });

  const seqScans = async () => {
    const [row] = await standby.sql(
      "SELECT sum(seq_scan + coalesce(idx_scan, 0))::int AS n FROM pg_stat_user_tables WHERE relname = 'calls'",
    );
    return Number(row?.['n']);
  };

  it('lists are read there, as soon as it has them; a call is read from the database itself', async () => {
    const target = targetOf(gateway);
    const id = await acceptedId(target, 'echo', { text: 'listed' });
    expect(await callWhen(target, id)).toMatchObject({ status: 'succeeded' });
    const before = await seqScans();
    await eventually(async () => {
      const { body } = await request<{ calls: { id: string }[] }>(target, 'GET', '/v1/calls?page_size=1000');
      expect(body.calls.map((call) => call.id)).toContain(id);
    });
    await eventually(async () => expect(await seqScans()).toBeGreaterThan(before));
  });

  it('while it is away lists are refused, which is told, and calls go on', async () => {
    const target = targetOf(gateway);
    await standby.kill();
    await eventually(async () => {
      const { status, body } = await request<{ reason?: string }>(target, 'GET', '/v1/calls');
      expect([status, JSON.stringify(body)]).toEqual([503, expect.stringContaining('DATABASE_UNAVAILABLE')]);
    });
    expect((await request(target, 'GET', '/v1/audit')).status).toBe(503);
    await eventually(async () =>
      expect(await metricValue(gateway.service.metricsUrl, 'ute_degraded{component="history"}')).toBe(1),
    );
    const probe = await fetch(`${gateway.url}/readyz`);
    expect([probe.status, await probe.json()]).toMatchObject([
      200,
      { degraded: { history: expect.stringContaining('replica') } },
    ]);
    const id = await acceptedId(target, 'echo', { text: 'meanwhile' });
    expect(await callWhen(target, id)).toMatchObject({ status: 'succeeded' });
  });
});
