// The gateway's own database: opened once, migrated once, embedded and elsewhere alike.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../src/cli/run.ts';
import type { EmbeddedPostgres } from '../../src/infra/embedded-postgres/embedded-postgres.ts';
import { Database } from '../../src/infra/postgres/database.ts';
import { GatewayDatabase } from '../../src/infra/postgres/gateway-database.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { embeddedDatabase, postgresDatabase } from '../helpers/databases.ts';
import { embeddedServer } from '../helpers/embedded-postgres.ts';
import { eventually } from '../helpers/eventually.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { quietLog } from '../helpers/quiet-log.ts';

/** Both are empty: nobody has brought them up to date. */
const EMPTY = [
  ['embedded', () => embeddedDatabase(new SystemClock(), embeddedServer())],
  ['PostgreSQL', () => postgresDatabase()],
] as const;

describe.each(EMPTY)('GatewayDatabase on %s', (_name, start) => {
  it('is opened by many at once and migrated once', async () => {
    const there = await start();
    const { database } = there;
    try {
      const all = await Promise.all(Array.from({ length: 8 }, () => database.opened()));
      expect(new Set(all).size).toBe(1);
      expect(database.isOpen).toBe(true);
      const [opened] = all;
      expect(await opened?.migrate(quietLog)).toEqual([]);
      expect(await opened?.db.selectFrom('calls').selectAll().execute()).toEqual([]);
    } finally {
      await there.end();
    }
  });
});

describe('GatewayDatabase', () => {
  it('three replicas that start at once migrate an empty PostgreSQL once', async () => {
    const database = await postgresDatabase();
    try {
      const replicas = [1, 2, 3].map(() => database.another());
      await Promise.all(replicas.map(async (database) => database.openNow()));
      expect(replicas.map((database) => database.isOpen)).toEqual([true, true, true]);
    } finally {
      await database.end();
    }
  });

  it('a replica of the version before starts beside a newer schema and leaves it alone, but not on one that is no successor', async () => {
    const server = await startPostgres();
    try {
      const settings = {
        kind: 'postgres',
        url: server.url(),
        poolSize: 1,
        ssl: 'disable',
        migrate: true,
      } as const;
      const start = async () => {
        const database = new GatewayDatabase(settings, { clock: new SystemClock(), log: quietLog });
        try {
          await database.openNow();
        } finally {
          await database.close();
        }
      };
      await start();
      await server.sql(`INSERT INTO ute_migrations (name, timestamp) VALUES ('9999-later', '2030-01-01')`);
      await start();
      expect(await ute(['migrate'], { UTE_DATABASE_URL: server.url() })).toMatchObject({
        code: 0,
        stdout: 'up to date\n',
      });
      await server.sql(`DELETE FROM ute_migrations WHERE name = '0030-oauth'`);
      await expect(start()).rejects.toThrow(
        /another version made it: it has 9999-later and lacks 0030-oauth/,
      );
    } finally {
      await server.stop();
    }
  });

  it('a replica of the version before that starts while a newer one migrates starts beside it', async () => {
    const server = await startPostgres();
    try {
      const settings = {
        kind: 'postgres',
        url: server.url(),
        poolSize: 1,
        ssl: 'disable',
        migrate: true,
      } as const;
      const migrate = () => Database.migrateOnly(settings, quietLog);
      await migrate();
      const newer = new Client({ connectionString: server.url() });
      await newer.connect();
      await newer.query('BEGIN');
      await newer.query('SELECT pg_advisory_xact_lock(7274305)');
      const older = migrate();
      await eventually(async () => {
        const waiting = await server.sql(
          `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`,
        );
        expect(waiting).toHaveLength(1);
      });
      await newer.query(`INSERT INTO ute_migrations (name, timestamp) VALUES ('9999-later', '2030-01-01')`);
      await newer.query('COMMIT');
      await newer.end();
      expect(await older).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  it('"ute migrate" brings a database up to date for a gateway that may not, which refuses to start before', async () => {
    const server = await startPostgres();
    try {
      const env = { UTE_DATABASE_URL: server.url() };
      const database = { kind: 'postgres', url: server.url(), poolSize: 1, ssl: 'disable' } as const;
      const gateway = () =>
        new GatewayDatabase({ ...database, migrate: false }, { clock: new SystemClock(), log: quietLog });
      const early = gateway();
      await expect(early.openNow()).rejects.toThrow(/schema is behind: run "ute migrate"/);
      await early.close();
      expect(await ute(['migrate'], env)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('0001-calls\n') as string,
      });
      expect(await ute(['migrate'], env)).toMatchObject({ code: 0, stdout: 'up to date\n' });
      const late = gateway();
      await late.openNow();
      await late.close();
    } finally {
      await server.stop();
    }
  });

  it('a second process is told who holds the embedded database, and a lock left by a crash is taken over', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'ute-lock-'));
    const dataDir = join(dir, 'postgres');
    const servers: EmbeddedPostgres[] = [];
    const open = () => {
      const { server } = embeddedServer(dir);
      servers.push(server);
      const settings = { kind: 'embedded', server, poolSize: 2, migrate: true } as const;
      return new GatewayDatabase(settings, { clock: new SystemClock(), log: quietLog });
    };
    // A process that is there, and one that cannot be.
    writeFileSync(`${dataDir}.lock`, `1 ${startTimeOf(1)}\n`);
    await expect(open().openNow()).rejects.toThrow(/in use by process 1: stop it, or set UTE_DATABASE_URL/);
    writeFileSync(`${dataDir}.lock`, '99999999 1\n');
    const database = open();
    await database.openNow();
    await expect(open().openNow()).rejects.toThrow(`in use by process ${process.pid}`);
    await database.close();
    await Promise.all(servers.map((server) => server.stop()));
    const next = open();
    await next.openNow();
    await next.close();
    await servers.at(-1)?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('a database that is away is UNAVAILABLE, at once within a second, and is found when it is back', async () => {
    const clock = new FakeClock();
    const nowhere = {
      kind: 'postgres',
      url: 'postgres://nobody@127.0.0.1:1/none',
      poolSize: 1,
      ssl: 'disable',
      migrate: true,
    } as const;
    const database = new GatewayDatabase(nowhere, { clock, log: quietLog });
    // A start gives it a few seconds.
    let gaveUp: unknown;
    const opening = database.openNow().catch((error: unknown) => (gaveUp = error));
    await clock.advance(9_000);
    expect(gaveUp).toBeUndefined();
    // Each try asks a real port, so that time has to wait for it.
    await expect
      .poll(async () => {
        await clock.advance(1_000);
        return gaveUp;
      })
      .toBeDefined();
    await opening;
    expect(gaveUp).toMatchObject({
      message: expect.stringMatching(/the database cannot be migrated: .*ECONNREFUSED/) as string,
    });
    await expect(database.opened()).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'DATABASE_UNAVAILABLE',
      message: 'The gateway cannot reach its database now.',
    });
    expect(database.isOpen).toBe(false);
    await database.close();
  });
});

async function ute(argv: readonly string[], env: Record<string, string>) {
  let stdout = '';
  const cwd = mkdtempSync(join(tmpdir(), 'ute-migrate-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const code = await run(argv, {
    stdout: (chunk) => void (stdout += chunk),
    stderr: (chunk) => void (stdout += chunk),
    readStdin: () => Promise.resolve(''),
    fetch,
    env,
    cwd,
  });
  return { code, stdout };
}

/** As the kernel counts it: the 22nd field. */
function startTimeOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
