// Attacks on the sql executor, against a real PostgreSQL with two tenants under row-level security.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { callOf } from '../helpers/call-kit.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { sqlKit, TWO_TENANTS, type SqlKit } from '../helpers/sql-kit.ts';
import { startTcpProxy } from '../helpers/tcp-proxy.ts';

const GUESTS_OF = 'SELECT id, guest FROM app.bookings WHERE guest = {guest} ORDER BY id';
const COUNT = "SELECT count(*)::int AS n, current_setting('app.tenant_id', true) AS tenant FROM app.bookings";
const MAY_SLEEP = { tenant: 'none' as const, trusted_functions: ['pg_sleep(double precision)'] };
const ENDLESS = 'SELECT count(*) AS n FROM generate_series(1, 100000000000)';

let postgres: Postgres;
let kit: SqlKit;

beforeAll(async () => {
  postgres = await startPostgres(TWO_TENANTS);
});
afterAll(() => postgres?.stop());
beforeEach(() => {
  kit = sqlKit(postgres.url('reader'));
});
afterEach(() => kit.close());

async function failureOf(promise: Promise<unknown>): Promise<ToolFailure> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof ToolFailure)) throw new Error('expected a ToolFailure', { cause: failure });
  return failure;
}

/** Statements of the gateway that run on the server now. */
async function running(): Promise<number> {
  const [row] = await postgres.sql(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'unified-tool-executor' AND state = 'active'",
  );
  return Number(row?.['n']);
}

describe('an argument cannot become SQL', () => {
  it.each([
    "guest-1' OR tenant_id = 'umbrella",
    "guest-1'; SELECT set_config('app.tenant_id', 'umbrella', false); --",
    "guest-1') OR set_config('app.tenant_id', 'umbrella', false) IS NOT NULL --",
    'guest-11 /* */ OR true --',
    '*/ OR 1=1 /*',
    "\\'; DROP TABLE app.bookings; --",
    '$1',
    '{guest}',
  ])('the argument %j finds no row, and changes nothing', async (guest) => {
    const tool = await kit.load({ statement: GUESTS_OF });
    expect((await tool.call({ guest })).rows).toEqual([]);
    expect((await tool.call({ guest: 'guest-1' })).rows).toEqual([{ id: 1, guest: 'guest-1' }]);
    expect(await postgres.sql('SELECT count(*)::int AS n FROM app.bookings')).toEqual([{ n: 20 }]);
  });

  it('an argument that names a row of another tenant finds nothing', async () => {
    const tool = await kit.load({ statement: 'SELECT guest FROM app.bookings WHERE tenant_id = {tenant}' });
    expect((await tool.call({ tenant: 'umbrella' })).rows).toEqual([]);
    expect((await tool.call({ tenant: 'acme' })).row_count).toBe(10);
  });

  it('a second statement in the text of a tool is refused at load', async () => {
    await expect(kit.load({ statement: 'SELECT 1 AS a; DELETE FROM app.bookings' })).rejects.toThrow(
      'one statement',
    );
    await expect(kit.load({ statement: "SELECT 1 AS a /* ; */ ; SELECT 'b'" })).rejects.toThrow(
      'one statement',
    );
  });

  it('a placeholder in a comment or in quotes takes no argument: the tool is refused', async () => {
    await expect(kit.load({ statement: 'SELECT 1 AS a -- {guest}' })).rejects.toThrow('guest stand nowhere');
    await expect(
      kit.load({ statement: "SELECT id FROM app.bookings WHERE guest LIKE '%{guest}%'" }),
    ).rejects.toThrow('{guest} stands inside quotes');
  });

  it('text with a NUL or half a character is refused before it reaches the server', async () => {
    const tool = await kit.load({ statement: GUESTS_OF });
    for (const guest of ['guest-1\0', '\ud800']) {
      expect(await failureOf(tool.call({ guest }))).toMatchObject({
        type: 'VALIDATION',
        reason: 'UNSAFE_ARGUMENT',
        details: { violations: [{ pointer: '/guest' }] },
      });
    }
    const json = await kit.load({ statement: 'SELECT {value}::jsonb AS value', tenant: 'none' });
    expect(await failureOf(json.call({ value: { a: 'x\0' } }))).toMatchObject({ type: 'VALIDATION' });
    expect((await json.call({ value: { a: '\\u0000' } })).rows).toEqual([{ value: { a: '\\u0000' } }]);
  });

  it('an argument of the wrong type is refused, never bent into another', async () => {
    const byId = await kit.load({ statement: 'SELECT guest FROM app.bookings WHERE id = {id}' });
    for (const id of ['1 OR 1=1', '1; SELECT 2', true, 1.5, 1e21, 99_999_999_999]) {
      expect(await failureOf(byId.call({ id }))).toMatchObject({
        type: 'VALIDATION',
        partialSideEffects: false,
      });
    }
    for (const id of [{ $ne: 1 }, [1, 2]]) {
      expect(await failureOf(byId.call({ id }))).toMatchObject({ reason: 'UNSAFE_ARGUMENT' });
    }
    const anyOf = await kit.load({
      statement: 'SELECT id FROM app.bookings WHERE guest = ANY({guests}) ORDER BY id',
    });
    expect((await anyOf.call({ guests: ['guest-2', 'x","guest-3', null] })).rows).toEqual([{ id: 2 }]);
    expect(await failureOf(anyOf.call({ guests: '{guest-1,guest-2}' }))).toMatchObject({
      reason: 'UNSAFE_ARGUMENT',
    });
  });
});

describe('the tenant is the credential', () => {
  it('what a caller says of its tenant counts for nothing', async () => {
    const tool = await kit.load({ statement: COUNT });
    expect((await tool.call({}, { tenant: 'acme', says: 'umbrella' })).rows).toEqual([
      { n: 10, tenant: 'acme' },
    ]);
  });

  it('a call without a tenant is refused, also when it says one', async () => {
    const tool = await kit.load({ statement: COUNT });
    for (const tenant of [null, '']) {
      expect(await failureOf(tool.call({}, { tenant, says: 'umbrella' }))).toMatchObject({
        type: 'PERMISSION_DENIED',
        reason: 'TENANT_REQUIRED',
      });
    }
  });

  it('a setting left in the session by one tenant does not reach the next call on the connection', async () => {
    const connection = { pool_size: 1 };
    const trusted = { trusted_functions: ['app.turn_into(text)'] };
    const turn = await kit.load(
      { statement: 'SELECT app.turn_into({tenant}) AS tenant', ...trusted },
      { connection },
    );
    const count = await kit.load({ statement: COUNT }, { connection });
    const unbound = await kit.load({ statement: COUNT, tenant: 'none' }, { connection });
    expect((await turn.call({ tenant: 'umbrella' })).rows).toEqual([{ tenant: 'umbrella' }]);
    expect((await unbound.call()).rows).toMatchObject([{ n: 0 }]);
    expect((await count.call()).rows).toEqual([{ n: 10, tenant: 'acme' }]);
    expect((await count.call({}, { tenant: 'umbrella' })).rows).toEqual([{ n: 10, tenant: 'umbrella' }]);
    expect((await unbound.call()).rows).toMatchObject([{ n: 0 }]);
  });

  it('a call that fails leaves no transaction and no tenant behind', async () => {
    const connection = { pool_size: 1 };
    const divide = await kit.load(
      { statement: 'SELECT 1 / {n}::int AS x FROM app.bookings' },
      { connection },
    );
    const unbound = await kit.load({ statement: COUNT, tenant: 'none' }, { connection });
    expect(await failureOf(divide.call({ n: 0 }))).toMatchObject({ type: 'PERMANENT' });
    expect((await unbound.call()).rows).toMatchObject([{ n: 0 }]);
  });

  it('tenants that call at once on one pool see their own rows alone', async () => {
    const tool = await kit.load({ statement: COUNT }, { connection: { pool_size: 2 } });
    const tenants = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? 'acme' : 'umbrella'));
    const answers = await Promise.all(tenants.map((tenant) => tool.call({}, { tenant })));
    expect(answers.map(({ rows }) => rows)).toEqual(tenants.map((tenant) => [{ n: 10, tenant }]));
  });
});

describe('a way around row-level security is refused at load', () => {
  it.each([
    [
      'a view that reads with its owner’s rights',
      'SELECT id FROM app.leaky',
      'view app.leaky reads with its owner',
    ],
    [
      'a sound view over a leaky one',
      'SELECT id FROM app.sound_over_leaky',
      'view app.leaky reads with its owner',
    ],
    [
      'a leaky view that the planner would drop',
      'SELECT 1 AS a FROM app.leaky WHERE false',
      'view app.leaky',
    ],
    ['a materialized view', 'SELECT id FROM app.snapshot', 'has no row-level security'],
    ['a definer function', 'SELECT app.all_guests() AS guest', 'SECURITY DEFINER'],
    [
      'a function that cannot be seen through',
      "SELECT app.hidden('x') AS n",
      'app.hidden(text) reaches cannot be seen',
    ],
    ['a table whose security is not forced', 'SELECT id FROM app.unforced', 'FORCE ROW LEVEL SECURITY'],
    ['a table without security', 'SELECT id FROM app.unguarded', 'ENABLE ROW LEVEL SECURITY'],
    [
      'a table without security in a subquery',
      'SELECT (SELECT max(id) FROM app.unguarded) AS x',
      'app.unguarded',
    ],
    [
      'a policy that lets everything through',
      'SELECT id FROM app.wide_open',
      'policy everything of app.wide_open',
    ],
    [
      'set_config in the statement',
      "SELECT set_config('app.tenant_id', {t}, true) AS t",
      'set_config(text,text,boolean) is not for tools',
    ],
    [
      'set_config in quotes',
      `SELECT pg_catalog . "set_config" ('a.b', {t}, true) AS t`,
      'set_config(text,text,boolean) is not for tools',
    ],
    [
      'SQL that comes as text',
      "SELECT query_to_xml({q}, true, true, '') AS x",
      'query_to_xml(text,boolean,boolean,text) is not for tools',
    ],
    [
      'a lock that outlives the call',
      'SELECT pg_advisory_lock(1) AS l',
      'pg_advisory_lock(bigint) is not for tools',
    ],
    ['a setting as a statement', "SET app.tenant_id = 'umbrella'", 'found a VariableSetStmt'],
    ['a block of code', 'DO $$ BEGIN END $$', 'found a DoStmt'],
  ])('%s', async (_, statement, reason) => {
    await expect(kit.load({ statement })).rejects.toThrow(reason);
  });

  it.each([
    ['the owner of the table', 'owner_login', 'owns the table app.bookings'],
    ['a role with BYPASSRLS', 'bypasser', 'bypasser has BYPASSRLS'],
    ['a superuser', undefined, 'is a superuser'],
  ])('%s as the login', async (_, user, reason) => {
    await postgres.sql('GRANT SELECT ON app.bookings TO owner_login');
    await expect(kit.load({ statement: COUNT }, { url: postgres.url(user) })).rejects.toThrow(reason);
  });

  it('a view with security_invoker, and data declared as without tenants, are let through', async () => {
    const view = await kit.load({ statement: 'SELECT count(*)::int AS n FROM app.sound' });
    expect((await view.call()).rows).toEqual([{ n: 10 }]);
    const statement = 'SELECT code FROM app.currencies ORDER BY code';
    await expect(kit.load({ statement })).rejects.toThrow('ENABLE ROW LEVEL SECURITY');
    for (const own of [{ options: { tenant: 'none' as const } }, { connection: { tenant: 'none' } }]) {
      const tool = await kit.load({ statement, ...own.options }, own);
      expect((await tool.call({}, { tenant: null })).row_count).toBe(2);
    }
  });

  it('a server that was down at load does not spare a tool the check', async () => {
    const proxy = await startTcpProxy(postgres.port);
    await proxy.close();
    const url = postgres.url('reader', proxy.port);
    const leaky = await kit.load({ statement: 'SELECT id FROM app.leaky' }, { url });
    expect(await failureOf(leaky.call())).toMatchObject({ type: 'UNAVAILABLE', reason: 'CONNECT_FAILED' });
    expect(kit.log.lines).toMatchObject([{ level: 'warn', fields: { reason: 'CONNECT_FAILED' } }]);
  });
});

describe('a tool that reads cannot write', () => {
  it('a data-modifying CTE, a row lock and an INSERT are refused at load', async () => {
    for (const statement of [
      "WITH gone AS (UPDATE app.bookings SET guest = 'x' RETURNING id) SELECT id FROM gone",
      'SELECT id FROM app.bookings FOR UPDATE',
      "INSERT INTO app.bookings VALUES (99, 'acme', 'x')",
    ]) {
      await expect(kit.load({ statement })).rejects.toThrow('writes: true');
    }
  });

  it('a write hidden in a trusted function is stopped by the read-only transaction', async () => {
    const tool = await kit.load({
      statement: 'SELECT app.write({id}::int) AS id',
      trusted_functions: ['app.write(integer)'],
    });
    expect(await failureOf(tool.call({ id: 1 }))).toMatchObject({
      type: 'PERMISSION_DENIED',
      reason: 'READ_ONLY',
    });
    expect(await postgres.sql('SELECT guest FROM app.bookings WHERE id = 1')).toEqual([{ guest: 'guest-1' }]);
  });

  it('writes: true in a tool that calls itself read-only is refused at load', async () => {
    const statement = 'UPDATE app.bookings SET guest = {guest} WHERE id = {id}';
    await expect(kit.load({ statement, writes: true })).rejects.toThrow('metadata.read_only is true');
    const tool = await kit.load({ statement, writes: true }, { metadata: { readOnly: false } });
    expect(await tool.call({ guest: 'renamed', id: 20 })).toMatchObject({ affected_rows: 0 });
    expect(await tool.call({ guest: 'guest-10', id: 10 })).toMatchObject({ affected_rows: 1 });
  });
});

describe('a call takes what it may, and no more', () => {
  it('a query past its deadline is ended on the server, not only given up', async () => {
    const tool = await kit.load({ statement: ENDLESS, tenant: 'none' });
    const gone = new ToolFailure('TIMEOUT', 'The call did not finish within 300 ms.');
    const controller = new AbortController();
    const call = failureOf(tool.call({}, { signal: controller.signal }));
    await expect.poll(running).toBe(1);
    controller.abort(gone);
    expect(await call).toBe(gone);
    await expect.poll(running).toBe(0);
  });

  it('a call given up at any moment, also before its query has begun, leaves nothing running', async () => {
    const connection = { pool_size: 20 };
    const tool = await kit.load({ statement: ENDLESS, tenant: 'none' }, { connection });
    const givenUp = Array.from({ length: 20 }, async (_, n) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new ToolFailure('CANCELLED', 'gone')), n * 3);
      return failureOf(tool.call({}, { signal: controller.signal }));
    });
    expect((await Promise.all(givenUp)).every(({ type }) => type === 'CANCELLED')).toBe(true);
    await expect.poll(running).toBe(0);
  });

  it('a call that is late, and whose statement ends by itself soon after, leaves its connection to the next', async () => {
    const statement = 'SELECT pg_backend_pid() AS pid, pg_sleep(0.01)::text AS s';
    const brief = await kit.load({ statement, ...MAY_SLEEP }, { connection: { pool_size: 1 } });
    const serving = async () => (await brief.call()).rows[0]?.['pid'];
    // How soon is the server's to say: on a machine with too much to do it is not the first time.
    const isKept = async () => {
      const before = await serving();
      const controller = new AbortController();
      const late = failureOf(brief.call({}, { signal: controller.signal }));
      await new Promise((sent) => setImmediate(sent));
      controller.abort(new ToolFailure('TIMEOUT', 'late'));
      expect(await late).toMatchObject({ type: 'TIMEOUT' });
      return (await serving()) === before;
    };
    await expect.poll(isKept, { timeout: 20_000 }).toBe(true);
  });

  it('a change that nobody waits for any more is rolled back', async () => {
    const statement =
      "UPDATE app.bookings SET guest = 'late' WHERE id = {id}::int RETURNING pg_sleep(0.03)::text AS s";
    const tool = await kit.load(
      { statement, writes: true, trusted_functions: MAY_SLEEP.trusted_functions },
      { connection: { pool_size: 1 }, metadata: { readOnly: false } },
    );
    await tool.call({ id: 99 });
    const controller = new AbortController();
    const late = failureOf(tool.call({ id: 3 }, { signal: controller.signal }));
    await new Promise((sent) => setImmediate(sent));
    controller.abort(new ToolFailure('TIMEOUT', 'late'));
    await late;
    await expect.poll(running).toBe(0);
    const [row] = await postgres.sql('SELECT guest FROM app.bookings WHERE id = 3');
    expect(row).toEqual({ guest: 'guest-3' });
  });

  it('the server ends the query by itself where nobody tells it to', async () => {
    const tool = await kit.load({ statement: ENDLESS, tenant: 'none' });
    expect(await failureOf(tool.call({}, { timeoutMs: 200 }))).toMatchObject({ type: 'TIMEOUT' });
    await expect.poll(running).toBe(0);
  });

  it('the end of one call never ends another on the same pool', async () => {
    const slow = await kit.load({ statement: 'SELECT pg_sleep(0.3)::text AS s', ...MAY_SLEEP });
    const quick = await kit.load({ statement: 'SELECT 1 AS one', tenant: 'none' });
    const given = Array.from({ length: 6 }, () => {
      const controller = new AbortController();
      const call = failureOf(slow.call({}, { signal: controller.signal }));
      controller.abort(new ToolFailure('CANCELLED', 'gone'));
      return call;
    });
    const answers = await Promise.all(Array.from({ length: 30 }, () => quick.call()));
    expect(answers.every(({ row_count: count }) => count === 1)).toBe(true);
    expect((await Promise.all(given)).every(({ type }) => type === 'CANCELLED')).toBe(true);
  });

  it('a huge result stays on the server beyond the limit of rows, and the answer says so', async () => {
    const proxy = await startTcpProxy(postgres.port);
    const statement = 'SELECT n FROM generate_series(1, 5000000) n';
    const tool = await kit.load(
      { statement, tenant: 'none', max_rows: 5 },
      { url: postgres.url('reader', proxy.port) },
    );
    proxy.reset();
    const data = await tool.call();
    expect(data).toMatchObject({ row_count: 5, truncated: { more: true, limit: 'max_rows' } });
    expect(proxy.bytesToClient).toBeLessThan(10_000);
    await proxy.close();
  });

  it('many middling rows stop at the limit of bytes, whole, and the answer says so', async () => {
    const tool = await kit.load({
      statement: "SELECT n, repeat('x', 1000000) AS x FROM generate_series(1, 10000) n",
      tenant: 'none',
      max_rows: 10_000,
      max_bytes: 3_500_000,
    });
    const data = await tool.call();
    expect(data).toMatchObject({ row_count: 3, truncated: { more: true, limit: 'max_bytes' } });
    expect((await tool.call()).row_count).toBe(3);
  });

  it('one huge row is refused long before it has arrived', async () => {
    const proxy = await startTcpProxy(postgres.port);
    const statement = "SELECT repeat('x', 200000000) AS x";
    const tool = await kit.load({ statement, tenant: 'none' }, { url: postgres.url('reader', proxy.port) });
    proxy.reset();
    expect(await failureOf(tool.call())).toMatchObject({ type: 'OUTPUT_TOO_LARGE', reason: 'ROW_TOO_LARGE' });
    expect(proxy.bytesToClient).toBeLessThan(20_000_000);
    await proxy.close();
  });

  it('a pool held by slow calls refuses the next one in time, as UNAVAILABLE', async () => {
    const connection = { pool_size: 1, connect_timeout_ms: 200 };
    const slow = await kit.load({ statement: ENDLESS, tenant: 'none' }, { connection });
    const controller = new AbortController();
    const held = failureOf(slow.call({}, { signal: controller.signal }));
    await expect.poll(running).toBe(1);
    const call = callOf({ arguments: {}, deadline: Date.now() + 10_000 });
    const next = failureOf(slow.prepared.execute(call, () => {}));
    await new Promise((sent) => setImmediate(sent));
    // Where its own time is over first, that is said in place of TIMEOUT.
    expect(call.progress.stalled?.()).toMatchObject({ reason: 'POOL_EXHAUSTED' });
    expect(await next).toMatchObject({ type: 'UNAVAILABLE', reason: 'POOL_EXHAUSTED' });
    expect(call.progress.stalled?.()).toBeUndefined();
    controller.abort(new ToolFailure('CANCELLED', 'gone'));
    await held;
  });
});

describe('what goes wrong tells the caller nothing', () => {
  const seen = ({ message, details, reason }: ToolFailure) => JSON.stringify({ message, details, reason });

  it('an error of the server shows no row, name or value: its own words go to the log', async () => {
    const insert = await kit.load(
      {
        statement: "INSERT INTO app.bookings VALUES ({id}::int, 'acme', {guest})",
        writes: true,
      },
      { metadata: { readOnly: false } },
    );
    const duplicate = await failureOf(insert.call({ id: 11, guest: 'secret-name' }));
    expect(duplicate).toMatchObject({ type: 'CONFLICT', origin: 'tool', details: { sqlstate_class: '23' } });
    expect(seen(duplicate)).not.toMatch(/bookings|pkey|11|secret-name/);
    expect((duplicate.cause as Error).message).toContain('bookings_pkey');

    const cast = await kit.load({ statement: 'SELECT guest::int AS n FROM app.bookings' });
    expect(seen(await failureOf(cast.call()))).not.toMatch(/guest|1/);

    const raised = await kit.load({
      statement: 'SELECT app.complain(guest) AS n FROM app.bookings',
      trusted_functions: ['app.complain(text)'],
    });
    expect(seen(await failureOf(raised.call()))).not.toMatch(/pin|7001|guest/);
  });

  it('no failure shows the password of the connection or where the server is', async () => {
    const url = 'postgres://reader:hunter2-secret@127.0.0.1:1/postgres';
    const tool = await kit.load({ statement: 'SELECT 1 AS a', tenant: 'none' }, { url });
    const failure = await failureOf(tool.call());
    expect(failure).toMatchObject({ type: 'UNAVAILABLE', retryable: true });
    expect(seen(failure)).not.toMatch(/hunter2|127\.0\.0\.1|reader/);
    expect(JSON.stringify(kit.log.lines)).not.toContain('hunter2');
  });

  it('a dry run shows the statement and its parameters, and runs nothing', async () => {
    const statement = 'UPDATE app.bookings SET guest = {guest} WHERE id = {id}';
    const tool = await kit.load({ statement, writes: true }, { metadata: { readOnly: false } });
    const shown = await tool.prepared.render?.(callOf({ arguments: { guest: "x'; --", id: 1 } }));
    expect(shown).toEqual({
      statement: 'UPDATE app.bookings SET guest = $1 WHERE id = $2',
      parameters: ["x'; --", '1'],
    });
    expect(await postgres.sql('SELECT guest FROM app.bookings WHERE id = 1')).toEqual([{ guest: 'guest-1' }]);
  });
});

describe('a connection that is lost', () => {
  it('in mid-query is UNAVAILABLE, and the next call gets a new one', async () => {
    const proxy = await startTcpProxy(postgres.port);
    const url = postgres.url('reader', proxy.port);
    const tool = await kit.load(
      { statement: 'SELECT pg_sleep({s}::float8)::text AS s', ...MAY_SLEEP },
      { url },
    );
    await tool.call({ s: 0 });
    const call = failureOf(tool.call({ s: 30 }));
    await expect.poll(running).toBe(1);
    proxy.cut();
    expect(await call).toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'CONNECTION_LOST',
      partialSideEffects: false,
    });
    expect((await tool.call({ s: 0 })).row_count).toBe(1);
    await kit.close();
    await proxy.close();
    await postgres.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'unified-tool-executor'",
    );
  });

  it('by the hand of an administrator is UNAVAILABLE, idle or in mid-query, and crashes nobody', async () => {
    const tool = await kit.load({ statement: 'SELECT pg_sleep({s}::float8)::text AS s', ...MAY_SLEEP });
    const killAll = () =>
      postgres.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'unified-tool-executor'",
      );
    const call = failureOf(tool.call({ s: 30 }));
    await expect.poll(running).toBe(1);
    await killAll();
    expect(await call).toMatchObject({ type: 'UNAVAILABLE', partialSideEffects: false });
    await tool.call({ s: 0 });
    await killAll();
    await expect
      .poll(() =>
        tool.call({ s: 0 }).then(
          ({ row_count: n }) => n,
          () => 0,
        ),
      )
      .toBe(1);
  });

  it('a table changed under a prepared statement is TRANSIENT once, and right after that', async () => {
    await postgres.sql(
      'CREATE TABLE app.shifting (a int); INSERT INTO app.shifting VALUES (1); GRANT SELECT ON app.shifting TO reader',
    );
    const tool = await kit.load(
      { statement: 'SELECT * FROM app.shifting', tenant: 'none' },
      { connection: { pool_size: 1 } },
    );
    expect((await tool.call()).rows).toEqual([{ a: 1 }]);
    await postgres.sql("ALTER TABLE app.shifting ADD COLUMN b text DEFAULT 'new'");
    expect(await failureOf(tool.call())).toMatchObject({
      type: 'TRANSIENT',
      reason: 'SCHEMA_CHANGED',
      retryable: true,
    });
    expect((await tool.call()).rows).toEqual([{ a: 1, b: 'new' }]);
  });
});
