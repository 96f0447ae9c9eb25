// A tool's database on the embedded server: its login reaches that database alone, becomes nobody else, takes no more than its share.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, type PoolConfig } from 'pg';
import { ToolDatabases } from '../../src/infra/sql/tool-databases.ts';
import { seededServer, type TestServer } from '../helpers/embedded-postgres.ts';

const INIT = `
CREATE TABLE IF NOT EXISTS bookings (id int, guest text);
GRANT SELECT, INSERT ON bookings TO agent;
`;
const BOUNDS = { poolSize: 2, connectTimeoutMs: 5_000 };

let embedded: TestServer;
let databases: ToolDatabases;
/** As the tool of one connection, and as that of another. */
let own: PoolConfig;
let other: PoolConfig;

beforeAll(async () => {
  embedded = seededServer();
  databases = new ToolDatabases(embedded.server);
  const open = async (database: string, role?: string) =>
    (
      await databases.open({
        kind: 'embedded',
        database,
        initSql: INIT.replaceAll('agent', role ?? 'PUBLIC'),
        role,
        ...BOUNDS,
      })
    ).pool;
  own = await open('own', 'agent');
  other = await open('other', 'agent');
});
afterAll(() => embedded?.end());

async function as<T>(config: PoolConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(config);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
const ask = (text: string, config = own) =>
  as(config, async (client) => (await client.query<Record<string, unknown>>(text)).rows);

describe('a login of a tool', () => {
  it('has what its role has', async () => {
    await ask("INSERT INTO bookings VALUES (1, 'Ada')");
    expect(await ask('SELECT guest FROM bookings')).toEqual([{ guest: 'Ada' }]);
    expect(await ask('SELECT guest FROM bookings', other)).toEqual([]);
  });

  it('has no attribute that lets it do more', async () => {
    expect(
      await ask(
        `SELECT DISTINCT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
         FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER') AND rolname <> 'pg_database_owner'`,
      ),
    ).toEqual([
      {
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolreplication: false,
        rolbypassrls: false,
      },
    ]);
  });

  it.each([
    'SET ROLE ute',
    'SET ROLE agent',
    'SET ROLE tool_own',
    'SET ROLE pg_read_all_data',
    'SET SESSION AUTHORIZATION ute',
    'ALTER ROLE CURRENT_USER SUPERUSER',
    'ALTER ROLE CURRENT_USER CONNECTION LIMIT 100',
    "ALTER ROLE CURRENT_USER SET temp_file_limit = '-1'",
    'ALTER ROLE ute PASSWORD NULL',
    'CREATE ROLE more',
    'GRANT ute TO CURRENT_USER',
    'GRANT pg_execute_server_program TO CURRENT_USER',
    'CREATE DATABASE more',
    'CREATE SCHEMA more',
    'CREATE TABLE public.more (n int)',
    'CREATE EXTENSION hstore',
    'CREATE EXTENSION dblink',
    "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'getpid'",
    "COPY bookings TO PROGRAM 'id'",
    "COPY bookings FROM '/etc/passwd'",
    "COPY bookings TO '/tmp/bookings'",
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT pg_ls_dir('.')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/x')",
    'SELECT rolpassword FROM pg_authid',
    'SELECT pg_reload_conf()',
    "ALTER SYSTEM SET work_mem = '1GB'",
    "SET temp_file_limit = '-1'",
    'SET log_statement = none',
    "LOAD 'auto_explain'",
    'CHECKPOINT',
    'CREATE PUBLICATION everything FOR ALL TABLES',
    "SELECT pg_create_physical_replication_slot('slot')",
    'DELETE FROM bookings',
    'TRUNCATE bookings',
    'DROP TABLE bookings',
    'ALTER TABLE bookings DISABLE ROW LEVEL SECURITY',
    'DROP DATABASE tool_other',
    'ALTER DATABASE tool_own CONNECTION LIMIT -1',
  ])('is refused: %s', async (statement) => {
    await expect(ask(statement)).rejects.toThrow(
      /permission denied|must be (?:superuser|owner)|may not be|Only roles with|is not available|is not allowed|not permitted/,
    );
  });

  it('ends as it began: RESET SESSION AUTHORIZATION and RESET ROLE lead nowhere', async () => {
    const [before] = await ask('SELECT current_user, session_user');
    const after = await as(own, async (client) => {
      await client.query('RESET SESSION AUTHORIZATION');
      await client.query('RESET ROLE');
      return (await client.query<Record<string, unknown>>('SELECT current_user, session_user')).rows[0];
    });
    expect(after).toEqual(before);
    expect(after).toEqual({ current_user: own.user, session_user: own.user });
  });

  it('reaches no other database: not the records, not another connection’s', async () => {
    for (const database of ['postgres', 'template1', 'tool_other', 'template0'])
      await expect(ask('SELECT 1', { ...own, database })).rejects.toThrow(
        /permission denied|not currently accepting/,
      );
  });

  it('gets no more connections than its own, and leaves the others theirs', async () => {
    const pool = await embedded.server.pool();
    // A server forgets a connection a moment after its client did.
    const left = 'SELECT FROM pg_stat_activity WHERE usename = $1';
    await expect
      .poll(() => as(pool, async (client) => (await client.query(left, [own.user])).rowCount))
      .toBe(0);
    const clients: Client[] = [];
    try {
      for (let index = 0; index < BOUNDS.poolSize + 3; index += 1) {
        const client = new Client(own);
        client.on('error', () => undefined);
        await client.connect();
        clients.push(client);
      }
      await expect(ask('SELECT 1')).rejects.toThrow(/too many connections for role/);
      expect(await ask('SELECT 1 AS one', other)).toEqual([{ one: 1 }]);
      expect(await ask('SELECT 1 AS one', pool)).toEqual([{ one: 1 }]);
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
  });

  it('ends no connection of the gateway', async () => {
    await as(await embedded.server.pool(), async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const pid = rows[0]?.pid ?? 0;
      for (const end of ['pg_terminate_backend', 'pg_cancel_backend'])
        await expect(ask(`SELECT ${end}(${pid})`)).rejects.toThrow(/permission denied|Only roles with/);
      await client.query('SELECT 1');
    });
  });

  it('fills the disk with no temporary files', async () => {
    await expect(
      ask(
        'SELECT count(*) FROM (SELECT repeat(n::text, 100) AS t FROM generate_series(1, 3000000) n ORDER BY t) s',
      ),
    ).rejects.toThrow(/temp_file_limit/);
  });

  it('has a time limit of its own, and idles in no transaction', async () => {
    const bounds = await ask(
      "SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'temp_file_limit') ORDER BY name",
    );
    expect(bounds).toEqual([
      { name: 'idle_in_transaction_session_timeout', setting: '60000' },
      { name: 'statement_timeout', setting: '600000' },
      { name: 'temp_file_limit', setting: '262144' },
    ]);
  });
});

describe('the operator’s own SQL', () => {
  it.each([
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "SELECT pg_read_file('postgresql.conf')",
    'CREATE ROLE more SUPERUSER',
    'SET ROLE ute',
    'CREATE EXTENSION dblink',
  ])('is no superuser’s either: %s', async (initSql) => {
    await expect(databases.open({ kind: 'embedded', initSql, ...BOUNDS })).rejects.toThrow(
      /permission denied|must be superuser|Only roles with/,
    );
  });

  it('leaves nobody the right to make schemas and extensions', async () => {
    const { pool, drop } = await databases.open({
      kind: 'embedded',
      initSql: 'CREATE SCHEMA app',
      ...BOUNDS,
    });
    expect(await ask("SELECT has_database_privilege(current_database(), 'CREATE') AS may", pool)).toEqual([
      { may: false },
    ]);
    await drop();
    const left = await ask(
      "SELECT FROM pg_roles WHERE starts_with(rolname, 'passing_')",
      await embedded.server.pool(),
    );
    expect(left).toEqual([]);
  });
});
