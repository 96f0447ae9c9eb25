// The sql executor on a real PostgreSQL: what a call costs on the wire, shapes of answers, pools and their end.
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PgSqlDatabases } from '../../src/infra/sql/pg-sql-databases.ts';
import type { SqlDatabase } from '../../src/ports/egress/sql-databases.ts';
import { embeddedServer, seededServer, type TestServer } from '../helpers/embedded-postgres.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { sqlKit, TWO_TENANTS, type SqlKit } from '../helpers/sql-kit.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';

let postgres: Postgres;
let proxy: TcpProxy;
let kit: SqlKit;

beforeAll(async () => {
  postgres = await startPostgres(TWO_TENANTS);
});
afterAll(() => postgres?.stop());
beforeEach(async () => {
  proxy = await startTcpProxy(postgres.port);
  kit = sqlKit(postgres.url('reader', proxy.port));
});
afterEach(async () => {
  await kit.close();
  await proxy.close();
});

/** What the next thing done costs, in round trips. */
async function tripsOf(done: () => Promise<unknown>): Promise<number> {
  proxy.reset();
  await done();
  return proxy.roundTrips;
}

describe('round trips', () => {
  const connection = { pool_size: 1 };

  it('a call that reads takes one: BEGIN, tenant, statement and ROLLBACK together', async () => {
    const statement = 'SELECT guest FROM app.bookings WHERE id = {id}';
    const tool = await kit.load({ statement }, { connection });
    await tool.call({ id: 1 });
    for (const tenant of ['acme', 'umbrella']) {
      expect(await tripsOf(() => tool.call({ id: 1 }, { tenant }))).toBe(1);
    }
    const capped = await kit.load({ statement: 'SELECT id FROM app.bookings', max_rows: 2 }, { connection });
    await capped.call();
    expect(await tripsOf(() => capped.call())).toBe(1);
  });

  it('the first use of a statement on a connection takes one more, to prepare it', async () => {
    const first = await kit.load({ statement: 'SELECT 1 AS a' }, { connection });
    const second = await kit.load({ statement: 'SELECT 2 AS a' }, { connection });
    await first.call();
    expect(await tripsOf(() => second.call())).toBe(2);
    expect(await tripsOf(() => second.call())).toBe(1);
  });

  it('a call that writes takes two, the COMMIT being the second', async () => {
    const tool = await kit.load(
      { statement: 'UPDATE app.bookings SET note = {note} WHERE id = {id}', writes: true },
      { connection, metadata: { readOnly: false } },
    );
    await tool.call({ id: 1, note: {} });
    expect(await tripsOf(() => tool.call({ id: 1, note: { a: 1 } }))).toBe(2);
  });

  it('a call that fails takes two, the ROLLBACK being the second', async () => {
    const tool = await kit.load({ statement: 'SELECT 1 / {n}::int AS x' }, { connection });
    await tool.call({ n: 1 });
    const trips = await tripsOf(async () => {
      await expect(tool.call({ n: 0 })).rejects.toMatchObject({ type: 'PERMANENT' });
      await expect.poll(() => proxy.roundTrips).toBe(2);
    });
    expect(trips).toBe(2);
    expect(await tripsOf(() => tool.call({ n: 1 }))).toBe(1);
  });
});

describe('answers', () => {
  it('result: row is the row itself or null, and a second row is an error', async () => {
    const statement = 'SELECT id, guest FROM app.bookings WHERE id >= {id}';
    const tool = await kit.load({ statement, result: 'row' });
    expect(await tool.call({ id: 10 })).toEqual({ id: 10, guest: 'guest-10' });
    expect(await tool.call({ id: 11 })).toBeNull();
    await expect(tool.call({ id: 9 })).rejects.toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'MORE_THAN_ONE_ROW',
    });
  });

  it('options of the URL are taken, and change nothing of how values are read', async () => {
    await postgres.sql("CREATE ROLE far_away LOGIN; ALTER ROLE far_away SET TimeZone = 'Asia/Tokyo'");
    await postgres.sql(
      "ALTER ROLE far_away SET DateStyle = 'German'; ALTER ROLE far_away SET bytea_output = 'escape'",
    );
    const options = encodeURIComponent('-c search_path=app -c DateStyle=SQL');
    const url = `${postgres.url('far_away', proxy.port)}?options=${options}`;
    const statement = `SELECT timestamptz '2026-01-31 23:30+00' AS at, '\\x00ff'::bytea AS b, '\\a' AS text, current_schema() AS s`;
    const tool = await kit.load({ statement, tenant: 'none' }, { url });
    expect((await tool.call()).rows).toEqual([
      { at: '2026-01-31T23:30:00Z', b: 'AP8=', text: '\\a', s: 'app' },
    ]);
  });

  it('an argument that is left out is NULL', async () => {
    const tool = await kit.load({ statement: 'SELECT {a}::int IS NULL AS absent', tenant: 'none' });
    expect((await tool.call()).rows).toEqual([{ absent: true }]);
  });
});

describe('loading', () => {
  it.each([
    ['SELECT nothing FROM app.bookings', 'column "nothing" does not exist (SQLSTATE 42703)'],
    ['SELECT code FROM pg_catalog.pg_authid', 'column "code" does not exist'],
    ['SELECT rolpassword FROM pg_authid', 'permission denied for table pg_authid'],
    ['SELECT 1 AS a, 2 AS a', 'Two columns are named "a"'],
    ['SELECT 1 AS "__proto__"', 'No column may be named'],
    ['SELECT guest INTO app.copy FROM app.bookings', 'SELECT ... INTO is not allowed here'],
  ])('%s is refused: %s', async (statement, reason) => {
    await expect(kit.load({ statement })).rejects.toThrow(reason);
  });

  it('every bad statement of a large load is told, however long the last of them waited for a connection', async () => {
    proxy.setMode({ kind: 'latency', ms: 25 });
    const connection = { pool_size: 1, connect_timeout_ms: 1_500 };
    const loads = Array.from({ length: 12 }, (_, n) =>
      kit.load({ statement: `SELECT nothing_${n} FROM app.bookings` }, { connection }),
    );
    const reasons = (await Promise.allSettled(loads)).map((load) =>
      load.status === 'rejected' ? String(load.reason) : 'let through',
    );
    expect(reasons).toEqual(reasons.map((_, n) => expect.stringContaining(`"nothing_${n}" does not exist`)));
  });

  it('one pool serves all tools of a connection, and ends with the last of them', async () => {
    const connections = async () =>
      (await postgres.sql("SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = 'reader'"))[0]?.[
        'n'
      ];
    const first = await kit.load({ statement: 'SELECT 1 AS a' }, { connection: { pool_size: 1 } });
    const second = await kit.load({ statement: 'SELECT 2 AS a' }, { connection: { pool_size: 1 } });
    await Promise.all([first.call(), second.call(), first.call()]);
    await expect.poll(connections).toBe(1);
    await first.prepared.close?.();
    expect((await second.call()).rows).toEqual([{ a: 2 }]);
    await second.prepared.close?.();
    await expect.poll(connections).toBe(0);
  });
});

describe('a database on the embedded server', () => {
  const initSql = 'CREATE TABLE IF NOT EXISTS notes (text text)';
  const bounds = { poolSize: 2, connectTimeoutMs: 5_000 };
  const signal = new AbortController().signal;
  let embedded: TestServer;
  beforeAll(() => {
    embedded = seededServer();
  });
  afterAll(() => embedded?.end());

  const run = (database: SqlDatabase, text: string, writes: boolean, by: AbortSignal = signal) => {
    const statement = { text, parameterCount: 0, writes };
    return database.run({
      statement,
      values: [],
      timeoutMs: 30_000,
      maxRows: 10,
      maxBytes: 1_000,
      signal: by,
    });
  };

  it('keeps what was committed under its name, over an ended statement and a restart', async () => {
    const settings = { kind: 'embedded', database: 'notes', initSql, ...bounds } as const;
    const databases = new PgSqlDatabases(embedded.server);
    const first = databases.open(settings);
    await run(first, "INSERT INTO notes VALUES ('kept')", true);
    const controller = new AbortController();
    const endless = run(
      first,
      'SELECT count(*) FROM generate_series(1, 100000000000)',
      false,
      controller.signal,
    );
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(endless).rejects.toThrow('enough');
    expect((await run(first, 'SELECT text FROM notes', false)).rows).toEqual([{ text: 'kept' }]);
    await databases.close();
    await embedded.server.stop();
    embedded = embeddedServer(embedded.dataDir);
    const again = new PgSqlDatabases(embedded.server);
    expect((await run(again.open(settings), 'SELECT text FROM notes', false)).rows).toEqual([
      { text: 'kept' },
    ]);
    await again.close();
  });

  it('without a name, is gone when it is closed', async () => {
    const databases = new PgSqlDatabases(embedded.server);
    const database = databases.open({ kind: 'embedded', initSql, ...bounds });
    await run(database, "INSERT INTO notes VALUES ('passing')", true);
    await database.close();
    const next = databases.open({ kind: 'embedded', initSql, ...bounds });
    expect((await run(next, 'SELECT text FROM notes', false)).rows).toEqual([]);
    await databases.close();
    const pool = new Pool(await embedded.server.pool());
    const { rows } = await pool.query("SELECT datname FROM pg_database WHERE datname LIKE 'passing%'");
    expect(rows).toEqual([]);
    await pool.end();
  });

  it('a schema that is wrong is UNAVAILABLE, and its cause says why', async () => {
    const databases = new PgSqlDatabases(embedded.server);
    const database = databases.open({ kind: 'embedded', initSql: 'CREATE TABEL x ()', ...bounds });
    const failure: unknown = await run(database, 'SELECT 1', false).catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'UNAVAILABLE', reason: 'CONNECT_FAILED' });
    expect(String((failure as Error).cause)).toContain('TABEL');
    await databases.close();
  });
});
