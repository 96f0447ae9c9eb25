// What every SqlDatabase must keep, whatever answers behind it.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/contract/json.ts';
import type { SqlDatabase, SqlRun } from '../../../src/ports/egress/sql-databases.ts';
import { anyCharacter } from '../../helpers/any-character.ts';

/** Made with SQL_SUITE_SCHEMA; statements run as the role `reader`. */
export interface SqlHarness {
  readonly database: SqlDatabase;
  close(): Promise<void>;
}

export const SQL_SUITE_SCHEMA = `
CREATE TABLE bookings (id int PRIMARY KEY, tenant_id text NOT NULL, guest text NOT NULL);
INSERT INTO bookings SELECT n, CASE WHEN n % 2 = 0 THEN 'acme' ELSE 'umbrella' END, 'guest ' || n
  FROM generate_series(1, 2000) n;
ALTER TABLE bookings ENABLE ROW LEVEL SECURITY;
ALTER TABLE bookings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON bookings USING (tenant_id = NULLIF(current_setting('app.tenant_id', true), ''));
CREATE VIEW all_bookings AS SELECT * FROM bookings;
GRANT SELECT, INSERT, UPDATE, DELETE ON bookings TO reader;
GRANT SELECT ON all_bookings TO reader;
`;

export function describeSqlDatabase(name: string, factory: () => Promise<SqlHarness>): void {
  describe(`SqlDatabase: ${name}`, () => {
    let harness: SqlHarness;
    let database: SqlDatabase;

    beforeAll(async () => {
      harness = await factory();
      ({ database } = harness);
    }, 120_000);
    afterAll(() => harness?.close());

    function run(text: string, changes: Partial<SqlRun> & { writes?: boolean } = {}) {
      const { writes = false, values = [], ...rest } = changes;
      return database.run({
        statement: { text, parameterCount: values.length, writes },
        values,
        timeoutMs: 30_000,
        maxRows: 100,
        maxBytes: 1 << 20,
        signal: new AbortController().signal,
        ...rest,
      });
    }
    const rowOf = async (text: string, changes?: Parameters<typeof run>[1]): Promise<JsonObject> =>
      (await run(text, changes)).rows[0] ?? {};
    const inspect = (text: string, depth: 'shape' | 'isolation' = 'shape') =>
      database.inspect({ text, parameterCount: 0, writes: false }, depth);

    describe('running', () => {
      it('gives rows by column name', async () => {
        expect(await run("SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, NULL ORDER BY a")).toEqual({
          rows: [
            { a: 1, b: 'x' },
            { a: 2, b: null },
          ],
        });
      });

      it('a value is a value, whatever stands in it', async () => {
        await fc.assert(
          fc.asyncProperty(
            fc
              .string({ unit: anyCharacter, maxLength: 40 })
              .filter((text) => text.isWellFormed() && !text.includes('\0')),
            async (text) => {
              expect(await rowOf('SELECT $1::text AS said', { values: [text] })).toEqual({ said: text });
            },
          ),
          { numRuns: 40 },
        );
      });

      it('the tenant of one call is not seen by the next, on the same connection', async () => {
        const count =
          "SELECT count(*)::int AS n, current_setting('app.tenant_id', true) AS tenant FROM bookings";
        expect(await rowOf(count, { tenantId: 'acme' })).toEqual({ n: 1000, tenant: 'acme' });
        const next = await rowOf(count);
        expect(next['n']).toBe(0);
        expect(next['tenant']).toBeOneOf(['', null]);
        expect(await rowOf(count, { tenantId: "umb'; --" })).toEqual({ n: 0, tenant: "umb'; --" });
      });

      it('reading is read-only and rolled back', async () => {
        const failed = run("INSERT INTO bookings VALUES (5000, 'acme', 'x') RETURNING id", {
          tenantId: 'acme',
        });
        await expect(failed).rejects.toMatchObject({ type: 'PERMISSION_DENIED', reason: 'READ_ONLY' });
        expect(await rowOf("SELECT set_config('app.residue', 'left', false) AS s")).toEqual({ s: 'left' });
        expect((await rowOf("SELECT current_setting('app.residue', true) AS s"))['s']).toBeOneOf(['', null]);
      });

      it('writing commits, and says how many rows it changed', async () => {
        const options = { writes: true, tenantId: 'acme' };
        const insert = "INSERT INTO bookings VALUES ($1, 'acme', 'new') RETURNING id";
        expect(await run(insert, { ...options, values: ['3000'] })).toEqual({
          rows: [{ id: 3000 }],
          affectedRows: 1,
        });
        await expect(run(insert, { ...options, values: ['3000'] })).rejects.toMatchObject({
          type: 'CONFLICT',
          reason: 'UNIQUE_VIOLATION',
        });
        expect(await run('DELETE FROM bookings WHERE id = 3000', options)).toEqual({
          rows: [],
          affectedRows: 1,
        });
      });

      it("a write outside the tenant's rows is refused", async () => {
        const foreign = run("INSERT INTO bookings VALUES (3001, 'umbrella', 'x')", {
          writes: true,
          tenantId: 'acme',
        });
        await expect(foreign).rejects.toMatchObject({ type: 'PERMISSION_DENIED', partialSideEffects: false });
      });

      it('an error does not hurt the next call', async () => {
        await expect(run('SELECT 1 / $1::int AS x', { values: ['0'] })).rejects.toMatchObject({
          type: 'PERMANENT',
        });
        expect(await rowOf('SELECT 1 / $1::int AS x', { values: ['1'] })).toEqual({ x: 1 });
      });
    });

    describe('limits', () => {
      it('rows beyond max_rows stay on the server, and it is said', async () => {
        const { rows, cutBy } = await run('SELECT n FROM generate_series(1, 1000000) n', { maxRows: 3 });
        expect({ rows, cutBy }).toEqual({ rows: [{ n: 1 }, { n: 2 }, { n: 3 }], cutBy: 'max_rows' });
        expect((await run('SELECT n FROM generate_series(1, 3) n', { maxRows: 3 })).cutBy).toBeUndefined();
      });

      it('rows beyond max_bytes are left out whole, and it is said', async () => {
        const { rows, cutBy } = await run("SELECT repeat('x', 400) AS x FROM generate_series(1, 50)", {
          maxBytes: 1_000,
        });
        expect({ count: rows.length, cutBy }).toEqual({ count: 2, cutBy: 'max_bytes' });
      });

      it('one row beyond max_bytes is refused, not cut', async () => {
        const huge = run("SELECT repeat('x', 5000) AS x", { maxBytes: 1_000 });
        await expect(huge).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE', reason: 'ROW_TOO_LARGE' });
        expect(await rowOf('SELECT 1 AS ok')).toEqual({ ok: 1 });
      });

      it('a write whose answer is too large is undone', async () => {
        const options = { writes: true, tenantId: 'acme', maxBytes: 1_000 };
        const large = run(
          "UPDATE bookings SET guest = repeat('x', 5000) WHERE id = 2 RETURNING guest",
          options,
        );
        await expect(large).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE', partialSideEffects: false });
        const after = await rowOf('SELECT guest FROM bookings WHERE id = 2', { tenantId: 'acme' });
        expect(after).toEqual({ guest: 'guest 2' });
      });
    });

    it.each<[sql: string, json: unknown]>([
      ['9007199254740993::bigint', '9007199254740993'],
      ['12.340::numeric', '12.340'],
      ["'NaN'::numeric", 'NaN'],
      ['1.5::float8', 1.5],
      ["'NaN'::float8", 'NaN'],
      ["'-Infinity'::float4", '-Infinity'],
      ['true', true],
      ['32767::smallint', 32_767],
      ["'\\xdeadbeef'::bytea", '3q2+7w=='],
      ["date '2026-01-31'", '2026-01-31'],
      ["timestamp '2026-01-31 09:30:00.25'", '2026-01-31T09:30:00.25'],
      ["timestamptz '2026-01-31 09:30:00+02'", '2026-01-31T07:30:00Z'],
      ["'infinity'::timestamptz", 'infinity'],
      ["interval '1 day 2 hours'", 'P1DT2H'],
      ["time '09:30'", '09:30:00'],
      ['\'{"a": [1, null, "x"]}\'::jsonb', { a: [1, null, 'x'] }],
      ["'[12345678901234567890, 1e400, 1.5]'::json", ['12345678901234567890', '1e400', 1.5]],
      ['ARRAY[1, NULL, 3]', [1, null, 3]],
      ["ARRAY['a,b', '{\"c\\', NULL, 'NULL']", ['a,b', '{"c\\', null, 'NULL']],
      [
        'ARRAY[[1, 2], [3, 4]]',
        [
          [1, 2],
          [3, 4],
        ],
      ],
      ["'{}'::text[]", []],
      ['ARRAY[1.5::numeric]', ['1.5']],
      ["'00000000-0000-0000-0000-000000000001'::uuid", '00000000-0000-0000-0000-000000000001'],
      ['NULL::int', null],
    ])('%s is JSON %j', async (sql, json) => {
      expect(await rowOf(`SELECT ${sql} AS value`)).toEqual({ value: json });
    });

    describe('ending', () => {
      it('an abort ends the statement, rejects with its reason, and leaves a database that serves', async () => {
        const controller = new AbortController();
        const long = run('SELECT count(*) FROM generate_series(1, 100000000000)', {
          signal: controller.signal,
        });
        setTimeout(() => controller.abort(new Error('enough')), 100);
        await expect(long).rejects.toThrow('enough');
        expect(await rowOf('SELECT 1 AS ok')).toEqual({ ok: 1 });
      });

      it('an aborted call that still waits for a connection is let go', async () => {
        const reason = new Error('gone');
        await expect(run('SELECT 1', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      });

      it('many calls at once each get their own answer', async () => {
        const answers = await Promise.all(
          Array.from({ length: 40 }, (_, n) => rowOf('SELECT $1::int AS n', { values: [String(n)] })),
        );
        expect(answers).toEqual(answers.map((_, n) => ({ n })));
      });
    });

    describe('inspecting', () => {
      it('says what a statement takes and gives, without running it', async () => {
        expect(
          await inspect('SELECT id, guest FROM bookings WHERE id = $1 AND guest = ANY($2)'),
        ).toMatchObject({
          parameterTypes: ['integer', 'text[]'],
          columns: ['id', 'guest'],
          writes: false,
        });
      });

      it.each([
        ['WITH gone AS (DELETE FROM bookings RETURNING id) SELECT count(*) FROM gone', true],
        ['SELECT id FROM bookings FOR UPDATE', true],
        ['SELECT id FROM bookings WHERE id = $1', false],
      ])('%s: writes is %s', async (text, writes) => {
        expect((await inspect(text)).writes).toBe(writes);
      });

      it('names all that a statement reaches, also through a view, also what a planner would drop', async () => {
        const { isolation, functions } = await inspect(
          'SELECT id FROM all_bookings WHERE false AND id = $1',
          'isolation',
        );
        expect(isolation?.role).toEqual({
          name: expect.stringMatching(/^(.+:)?reader$/) as string,
          superuser: false,
          bypassesRls: false,
        });
        expect(isolation?.relations).toMatchObject([
          { name: 'all_bookings', kind: 'view', securityInvoker: false },
          {
            name: 'bookings',
            kind: 'table',
            rowSecurity: true,
            forced: true,
            ownedByRole: false,
            policies: [{ name: 'own_rows', permissive: true, forAllCommands: true }],
          },
        ]);
        expect(functions.map(({ name, builtin }) => ({ name, builtin }))).toContainEqual({
          name: 'current_setting(text,boolean)',
          builtin: true,
        });
      });

      it('many statements at once, and calls between them', async () => {
        const inspections = Array.from({ length: 4 }, (_, n) => inspect(`SELECT ${n} AS n${n}`));
        expect(await rowOf('SELECT 1 AS ok')).toEqual({ ok: 1 });
        expect((await Promise.all(inspections)).map(({ columns }) => columns)).toEqual([
          ['n0'],
          ['n1'],
          ['n2'],
          ['n3'],
        ]);
      });

      it.each([
        ['SELECT nothing FROM bookings', 'column "nothing" does not exist'],
        ['SELEC 1', 'syntax error at or near "SELEC"'],
        ['SELECT 1; SELECT 2', 'cannot insert multiple commands into a prepared statement'],
      ])('%s is refused with what the server says', async (text, message) => {
        await expect(inspect(text)).rejects.toThrow(message);
        expect(await rowOf('SELECT 1 AS ok')).toEqual({ ok: 1 });
      });
    });

    // Last: afterwards there is no database.
    it('takes no new calls once it is closed', async () => {
      await database.close();
      await expect(run('SELECT 1')).rejects.toMatchObject({ type: 'UNAVAILABLE', reason: 'DRAINING' });
    });
  });
}
