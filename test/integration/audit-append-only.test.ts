// Append-only audit records on a PostgreSQL: the role that adds them can neither change nor take away one.
import { sql } from 'kysely';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { auditLine } from '../../src/infra/audit/audit-line.ts';
import { SqlAuditTable } from '../../src/infra/audit/audit-table.ts';
import { isDataError } from '../../src/infra/audit/audit-shipper.ts';
import { exportChain } from '../../src/infra/audit/trail/export-chain.ts';
import { dropOldDays, makeDaysAhead, trailDays } from '../../src/infra/audit/trail/trail-days.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { SqlIdempotencyStore } from '../../src/infra/idempotency/sql-idempotency-store.ts';
import { Database } from '../../src/infra/postgres/database.ts';
import { MIGRATIONS } from '../../src/infra/postgres/migrations/index.ts';
import { applyRetention } from '../../src/infra/maintenance/retention.ts';
import type { DatabaseSettings } from '../../src/infra/postgres/roles/connect-as.ts';
import { eraseUser } from '../../src/infra/audit/erasure/erase-user.ts';
import { uuidv7 } from '../../src/lib/ids.ts';
import { auditRecord, intentRecord } from '../helpers/audit-kit.ts';
import { embeddedDatabase } from '../helpers/databases.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { quietLog } from '../helpers/quiet-log.ts';

const DAY = 86_400_000;
const RECORDS = ['audit_trail', 'audit_records', 'audit_inbox', 'audit_checkpoints', 'audit_sinks'];

let server: Postgres;
beforeAll(async () => {
  server =
    await startPostgres(`CREATE ROLE owner LOGIN; CREATE ROLE writer LOGIN; CREATE ROLE other LOGIN; CREATE ROLE admin SUPERUSER; CREATE ROLE changer;
    GRANT CREATE, USAGE ON SCHEMA public TO owner; ALTER DEFAULT PRIVILEGES FOR ROLE owner GRANT ALL ON TABLES TO writer`);
});
afterAll(() => server?.stop());

const settings = (writer = 'writer', owner = 'owner', migrate = true) =>
  ({
    kind: 'postgres',
    url: server.url(writer),
    ownerUrl: server.url(owner),
    ssl: 'disable',
    poolSize: 3,
    migrate,
  }) satisfies DatabaseSettings;

async function opened<T>(given: DatabaseSettings, use: (database: Database) => Promise<T>): Promise<T> {
  const database = await Database.open(given, quietLog);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

const lineOf = (tenant = 'acme') => Buffer.from(auditLine(auditRecord({ tenant })));

/** What the role is told when it tries. */
async function tried(url: string, text: string): Promise<string> {
  const pool = new Pool({ connectionString: url, max: 1 });
  try {
    await pool.query(text);
    return 'done';
  } catch (error) {
    return `${(error as { code: string }).code} ${(error as Error).message}`;
  } finally {
    await pool.end();
  }
}

describe('the role of database.url', () => {
  it('adds records and reads them, and can neither change nor take away one, nor a day', async () => {
    await opened(settings(), async (database) => {
      await new SqlAuditTable(database, 'gateway').store(lineOf());
      const { rows } = await sql`SELECT 1 FROM audit_trail`.execute(database.db);
      expect(rows).toHaveLength(1);
      const [today = ''] = await trailDays(database);
      const parts = [`audit_trail_${today}`];
      for (const table of [...RECORDS, ...parts, 'audit_chains']) {
        const column = table === 'audit_sinks' ? 'name' : table === 'audit_inbox' ? 'record' : 'tenant_id';
        for (const text of [
          `UPDATE ${table} SET ${column} = 'x'`,
          `DELETE FROM ${table}`,
          `TRUNCATE ${table}`,
          `DROP TABLE ${table}`,
          `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
          `CREATE TRIGGER x BEFORE INSERT ON ${table} EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
        ])
          expect(`${await tried(server.url('writer'), text)}: ${text}`).toMatch(/^42501 /);
      }
      for (const text of [
        `ALTER TABLE audit_trail DETACH PARTITION ${parts[0]}`,
        `INSERT INTO ${parts[0]} SELECT * FROM audit_trail`,
        `UPDATE audit_chains SET dropped_seq = 9`,
        'SET ROLE owner',
        'CREATE TABLE public.x ()',
        `CREATE FUNCTION to_char(date, text) RETURNS text LANGUAGE sql AS 'SELECT 1::text'`,
        `INSERT INTO ute_migrations VALUES ('x', 'x')`,
        `DROP FUNCTION audit_partition`,
      ])
        expect(`${await tried(server.url('writer'), text)}: ${text}`).toMatch(/^42501 /);
      // All else is its work.
      expect(await tried(server.url('writer'), `UPDATE calls SET owner = 'x'; DELETE FROM calls`)).toBe(
        'done',
      );
    });
  });

  it('has days made ahead, and old ones are dropped, by the owner', async () => {
    await opened(settings(), async (database) => {
      await sql`SELECT audit_partition('2020-01-01')`.execute(database.owner);
      await makeDaysAhead(database);
      expect(await tried(server.url('writer'), 'DELETE FROM audit_trail_20200101')).toMatch(/^42501 /);
      expect(await dropOldDays(database, 365 * DAY)).toEqual(['20200101']);
      const periods = { calls: 0, callEvents: 0, audit: 0, approvals: 0, revokedKeys: 0, sessions: 0 };
      const signal = new AbortController().signal;
      await sql`INSERT INTO audit_checkpoints (tenant_id, seq, hash, at, previous, key_id, signature)
        VALUES ('old', 1, '', '2020-01-01', '', '', '')`.execute(database.owner);
      const done = await applyRetention(database, periods, {
        clock: new SystemClock(),
        withinMs: 5_000,
        signal,
      });
      expect(done.deleted).toMatchObject({ audit_checkpoints: 1 });
    });
  });

  it('makes no day that hides the others, or that is long past, and moves no record out of the trail', async () => {
    await opened(settings(), async (database) => {
      const table = new SqlAuditTable(database, 'gateway');
      await table.store(lineOf('hidden'));
      const days = await trailDays(database);
      for (const day of ['30000-01-01', '2020-01-01', '0044-03-15 BC', 'infinity', '9999-12-31'])
        expect(await tried(server.url('writer'), `SELECT audit_partition('${day}')`)).toMatch(
          /^(42501|22008) /,
        );
      expect(await tried(server.url('writer'), `SELECT audit_partition_of('30000-01-01')`)).toMatch(
        /^42501 /,
      );
      // One that an earlier version let it make.
      await sql`CREATE TABLE audit_trail_300000101 PARTITION OF audit_trail
        FOR VALUES FROM ('30000-01-01') TO ('30000-01-02')`.execute(database.owner);
      expect(await trailDays(database)).toEqual(days);
      expect(await exportChain(database.db, 'hidden', 0, 10)).toHaveLength(1);
      expect(await dropOldDays(database, 365 * DAY)).toEqual([]);
      await sql`DROP TABLE audit_trail_300000101`.execute(database.owner);
      // The end of a chain is its to move. What comes next is kept back then, and not put aside as a bad record.
      await sql`UPDATE audit_chains SET seq = 0 WHERE tenant_id = 'hidden'`.execute(database.db);
      const refused = await table.store(lineOf('hidden')).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: '23505' });
      expect(isDataError(refused)).toBe(false);
      for (const at of ['9000-01-01', '20000-01-01']) {
        await sql`UPDATE audit_chains SET seq = 1, recorded_at = ${at} WHERE tenant_id = 'hidden'`.execute(
          database.db,
        );
        const kept = await table.store(lineOf('hidden')).catch((error: unknown) => error);
        expect(kept).toBeInstanceOf(Error);
        expect(isDataError(kept)).toBe(false);
      }
    });
  });

  it('what waits to be chained is out of its reach, and is chained', async () => {
    await opened(settings(), async (database) => {
      await sql`INSERT INTO audit_inbox (record) VALUES (${lineOf('inbox').toString().trim()})`.execute(
        database.db,
      );
      expect(await tried(server.url('writer'), 'SELECT * FROM audit_inbox')).toMatch(/^42501 /);
      await new SqlAuditTable(database, 'gateway').takeIn(() => Promise.reject(new Error('refused')));
      const { rows } = await sql`SELECT seq FROM audit_trail WHERE tenant_id = 'inbox'`.execute(database.db);
      expect(rows).toEqual([{ seq: 1 }]);
    });
  });
});

it('what else is kept of a user goes where it has ended, and is left and counted where it is in use', async () => {
  await opened(settings(), async (database) => {
    const table = new SqlAuditTable(database, 'gateway');
    const intents = [1, 2, 3].map(() => intentRecord({ tenant: 'erasing', user: 'zoe' }));
    await table.intend([...intents, intentRecord({ tenant: 'erasing', user: 'joe' })].map(auditLine));
    const [ended, unknown] = intents.map(({ callId }) => callId);
    await sql`UPDATE calls SET status = 'failed', finished_at = now(), response = '{}' WHERE id = ${ended}`.execute(
      database.db,
    );
    await sql`UPDATE calls SET status = 'outcome_unknown', finished_at = now() WHERE id = ${unknown}`.execute(
      database.db,
    );
    for (const [id, user, status] of [['a1', 'zoe', 'used'], ['a2', 'zoe', 'pending'], ['a3', 'joe', 'used']])
      await sql`INSERT INTO approvals (id, tenant_id, tool, tool_version, tool_hash, arguments_hash, arguments, arguments_bytes,
          risk_level, requested_by, agent_id, user_id, session_id, token_hash, status, created_at, expires_at)
        VALUES (${id}, 'erasing', 't', '1', '', '', '{}', 2, 'low', 'k', '', ${user}, '', ${id}, ${status}, now(),
          now() + interval '1 hour')`.execute(database.db); // oxfmt-ignore
    await table.takeIn(() => Promise.reject(new Error('refused')));
    const erasure = { tenantId: 'erasing', userId: 'zoe', by: 'key' };
    expect(await eraseUser(database, erasure)).toEqual({
      records: 3, calls: 1, approvals: 1, sessions: 0, schedules: 0, keys: 0, delegations: 0, accounts: 0, inUse: 3,
    }); // oxfmt-ignore
    expect(await eraseUser(database, erasure)).toMatchObject({ records: 0, calls: 0, inUse: 3 });
    const { rows } = await sql`SELECT user_id FROM calls WHERE tenant_id = 'erasing' UNION ALL
      SELECT id FROM approvals WHERE tenant_id = 'erasing' ORDER BY 1`.execute(database.db);
    expect(rows.map((row) => Object.values(row as object)[0])).toEqual(['a2', 'a3', 'joe', 'zoe', 'zoe']);
  });
});

it('what is kept for the idempotency keys of a user goes with the user: a repeated key is refused, and runs nothing', async () => {
  await opened(settings(), async (database) => {
    const store = new SqlIdempotencyStore(database.db);
    const scope = (key: string) => ({ tenantId: 'keyed', principalId: 'k', tool: 't', key, callerHash: '' });
    const claim = { fingerprint: 'f', mayRunAgain: true, leaseMs: 60_000, keepMs: 60_000 };
    const done = { ok: true, dataJson: '"of a call"', intents: [] } as const;
    const [audited, listed, others, running] = ['zoe', 'zoe', 'joe', 'zoe'].map((user) =>
      auditRecord({ tenant: 'keyed', user, eventId: uuidv7(Date.now()), callId: uuidv7(Date.now()) }),
    );
    const calls = { audited, listed, others, running };
    for (const [key, { callId = '' } = {}] of Object.entries(calls)) {
      expect(await store.begin(scope(key), { ...claim, callId })).toMatchObject({ state: 'mine' });
      if (key !== 'running') await store.end({ ...scope(key), callId }, done);
    }
    const table = new SqlAuditTable(database, 'gateway');
    await table.store(Buffer.from([audited, others, running].map((each) => auditLine(each!)).join('')));
    await table.intend([auditLine(intentRecord({ tenant: 'keyed', user: 'zoe', callId: listed!.callId }))]);
    await sql`UPDATE calls SET status = 'succeeded', finished_at = now() WHERE tenant_id = 'keyed'`.execute(
      database.db,
    );
    await eraseUser(database, { tenantId: 'keyed', userId: 'zoe', by: 'key' });
    const again = (key: string) => store.begin(scope(key), { ...claim, callId: 'again' });
    const erased = { state: 'ended', outcome: { ok: false, error: { reason: 'OUTCOME_ERASED' } } };
    expect(await again('audited')).toMatchObject(erased);
    expect(await again('listed')).toMatchObject(erased);
    expect(await again('others')).toMatchObject({ state: 'ended', outcome: done });
    expect(await again('running')).toMatchObject({ state: 'in_flight' });
  });
});

it('keys and handed-on votes that name a user go once they are over; until then, and while a version is assigned, they are counted', async () => {
  await opened(settings(), async (database) => {
    const { db } = database;
    const erasure = { tenantId: 'naming', userId: 'zoe', by: 'key' };
    const secret = 'a'.repeat(64);
    for (const [id, user, revoked] of [['k1', 'zoe', true], ['k2', 'zoe', false], ['k3', 'joe', true]])
      await sql`INSERT INTO api_keys (id, name, secret_sha256, tenant, agents, key_user, roles, created_by, revoked_at)
        VALUES (${id}, 'n', ${secret}, 'naming', '{}', ${user}, '{}', 'k', ${revoked ? sql`now()` : null})`.execute(db); // oxfmt-ignore
    for (const [id, from, to, days] of [['d1', 'zoe', 'joe', -1], ['d2', 'joe', 'zoe', -1], ['d3', 'joe', 'zoe', 1], ['d4', 'joe', 'ann', -1]])
      await sql`INSERT INTO approval_delegations (id, tenant_id, from_user, from_roles, to_user, approver_groups, starts_at, ends_at, created_by)
        VALUES (${id}, 'naming', ${from}, '{}', ${to}, '{finance}', now() - interval '2 days', now() + ${days} * interval '1 day', 'k')`.execute(db); // oxfmt-ignore
    for (const [user, revision] of [['zoe', 1001], ['joe', 1002]])
      await sql`INSERT INTO tool_assignments (tenant_id, tool, kind, subject, content_hash, version, reason, revision, assigned_by)
        VALUES ('naming', 't', 'user', ${user}, '', '1', '', ${revision}, 'k')`.execute(db); // oxfmt-ignore
    expect(await eraseUser(database, erasure)).toMatchObject({ keys: 1, delegations: 2, inUse: 3 });
    await sql`UPDATE api_keys SET revoked_at = now() WHERE id = 'k2'`.execute(db);
    await sql`UPDATE approval_delegations SET revoked_at = now() WHERE id = 'd3'`.execute(db);
    expect(await eraseUser(database, erasure)).toMatchObject({ keys: 1, delegations: 1, inUse: 1 });
    const { rows } = await sql`SELECT id FROM api_keys WHERE tenant = 'naming'
      UNION ALL SELECT id FROM approval_delegations WHERE tenant_id = 'naming' ORDER BY 1`.execute(db);
    expect(rows).toEqual([{ id: 'd4' }, { id: 'k3' }]);
  });
});

it('what somebody did as an operator stays on record, also where he erases himself', async () => {
  await opened(settings(), async (database) => {
    const of = { tenant: 'operated', user: 'ann', callId: '' };
    const act = auditRecord({ ...of, kind: 'management', notes: { action: 'audit.erase', target: 'x' } });
    await new SqlAuditTable(database, 'gateway').store(
      Buffer.from(auditLine(act) + auditLine(auditRecord({ ...of, eventId: 'of-a-call' }))),
    );
    const erasure = { tenantId: 'operated', userId: 'ann', by: 'key' };
    expect(await eraseUser(database, erasure)).toMatchObject({ records: 1 });
    const { rows } =
      await sql`SELECT kind, user_id, notes FROM audit_trail WHERE tenant_id = 'operated' AND user_id IS NOT NULL`.execute(
        database.db,
      );
    expect(rows).toEqual([
      { kind: 'management', user_id: 'ann', notes: { action: 'audit.erase', target: 'x' } },
    ]);
  });
});

describe('a start', () => {
  const told = (given: DatabaseSettings) =>
    opened(given, () => Promise.resolve('opened')).catch((error: Error) => error.message);

  it('without migrations sees whether the rights are as they have to be', async () => {
    await told(settings());
    expect(await told(settings('writer', 'owner', false))).toBe('opened');
    await server.sql('GRANT DELETE ON audit_trail TO PUBLIC');
    expect(await told(settings('writer', 'owner', false))).toMatch(
      /role "writer" of database.url must add .* it may DELETE on audit_trail .*Run "ute migrate"/,
    );
    const env = { UTE_DATABASE_URL: server.url('writer'), UTE_DATABASE_OWNER_URL: server.url('owner') };
    const io = {
      env,
      cwd: '/',
      fetch,
      readStdin: () => Promise.resolve(''),
      stdout: () => {},
      stderr: () => {},
    };
    expect(await run(['migrate'], io)).toBe(0);
    expect(await told(settings('writer', 'owner', false))).toBe('opened');
  });

  it('is refused where the two are no two roles, or the writer can become the owner', async () => {
    expect(await told(settings('owner', 'owner'))).toContain('log in as the same role, "owner"');
    expect(await told(settings('root_of_all', 'owner'))).toContain(
      'it is a superuser, or a member of the role',
    );
    await server.sql('GRANT owner TO other');
    expect(await told(settings('other', 'owner'))).toContain('it is a superuser, or a member of the role');
    await server.sql('REVOKE owner FROM other');
  });

  it.each([
    [
      'GRANT CREATE ON DATABASE postgres TO',
      'REVOKE CREATE ON DATABASE postgres FROM',
      'it may CREATE in the database',
    ],
    ['GRANT admin TO', 'REVOKE admin FROM', 'it is a member of the role admin'],
    [
      'GRANT pg_execute_server_program TO',
      'REVOKE pg_execute_server_program FROM',
      'member of the role pg_execute',
    ],
    ['GRANT changer TO', 'REVOKE changer FROM', 'it may DELETE on audit_trail'],
  ])('is refused where the writer gets at records by a detour: %s', async (grant, revoke, why) => {
    await told(settings());
    await server.sql('ALTER ROLE writer NOINHERIT; GRANT DELETE ON audit_trail TO changer');
    await server.sql(`${grant} writer`);
    expect(await told(settings('writer', 'owner', false))).toContain(why);
    expect(await told(settings())).toContain(why);
    await server.sql(`${revoke} writer`);
    expect(await told(settings('writer', 'owner', false))).toBe('opened');
  });

  it('is refused where the owner is none, with what to do', async () => {
    expect(await told(settings('writer', 'other'))).toBe(
      'the role "other" of database.owner_url does not own the table ute_migrations, which belongs to "owner": name that role in database.owner_url, and a new one in database.url (docs/audit.md, "Append-only")',
    );
    await server.sql('CREATE DATABASE empty');
    const empty = (url: string) => url.replace(/postgres$/, 'empty');
    const given = settings('writer', 'other');
    expect(await told({ ...given, url: empty(given.url), ownerUrl: empty(given.ownerUrl) })).toContain(
      'the role "other" of database.owner_url may not create tables in the schema',
    );
  });
});

it('a database of one role becomes one of two: its role is the owner then, and what it had recorded stays', async () => {
  await server.sql('CREATE DATABASE upgraded OWNER owner');
  const at = (role: string) => server.url(role).replace(/postgres$/, 'upgraded');
  const one = { kind: 'postgres', url: at('owner'), ssl: 'disable', poolSize: 3, migrate: true } as const;
  const before = Object.keys(MIGRATIONS).findLast((name) => name < '0029') ?? '';
  await Database.migrateTo(one, before, quietLog);
  await opened(one, async (database) => {
    await new SqlAuditTable(database, 'gateway').store(lineOf());
    expect(await tried(at('owner'), `UPDATE audit_trail SET outcome = 'ok'`)).toBe('done');
  });
  await opened({ ...one, url: at('writer'), ownerUrl: at('owner') }, async (database) => {
    await new SqlAuditTable(database, 'gateway').store(lineOf());
    const { rows } = await sql`SELECT seq FROM audit_trail ORDER BY seq`.execute(database.db);
    expect(rows).toEqual([{ seq: 1 }, { seq: 2 }]);
    expect(await tried(at('writer'), 'DELETE FROM audit_trail')).toMatch(/^42501 /);
  });
});

it('the embedded database has two roles by itself', async () => {
  const there = await embeddedDatabase();
  try {
    const database = await there.database.opened();
    expect(there.database.isAppendOnly).toBe(true);
    await new SqlAuditTable(database, 'gateway').store(lineOf());
    for (const text of [`UPDATE audit_trail SET outcome = ''`, 'DELETE FROM audit_trail', 'SET ROLE ute'])
      await expect(sql.raw(text).execute(database.db)).rejects.toMatchObject({ code: '42501' });
  } finally {
    await there.end();
  }
});
