// COPY with rows that come one part after another, against PostgreSQL: what it refuses leaves the connection as it was.
import { setTimeout } from 'node:timers/promises';
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Pool } from 'pg';
import { takeCopyStatements } from '../../src/infra/postgres/statements/copy-statements.ts';
import { postgresDatabase, type TestDatabase } from '../helpers/databases.ts';
import { startPostgres } from '../helpers/postgres.ts';

const COPY = 'COPY parts (a) FROM STDIN';

let there: TestDatabase;
beforeAll(async () => {
  there = await postgresDatabase();
  await there.database.opened();
  await sql`CREATE TABLE parts (a integer CHECK (a <> 13))`.execute(there.database.owner);
});
afterAll(() => there?.end());

/** Each part by itself, with a rest before the next one. `asked` counts those that were fetched. */
function partsOf(parts: readonly (string | Error)[]) {
  const asked = { count: 0 };
  async function* rows(): AsyncGenerator<Buffer> {
    for (const part of parts) {
      asked.count += 1;
      if (part instanceof Error) throw part;
      yield Buffer.from(part);
      await setTimeout(2);
    }
  }
  return { rows: rows(), asked };
}

it('rows of all parts are there', async () => {
  const { owner } = there.database;
  const { rows } = partsOf(Array.from({ length: 40 }, (_, index) => `${index + 100}\n`.repeat(50)));
  await owner.executeQuery(CompiledQuery.raw(COPY, [rows]));
  const { rows: counted } = await sql`SELECT count(*)::integer AS count FROM parts WHERE a >= 100`.execute(
    owner,
  );
  expect(counted).toEqual([{ count: 2_000 }]);
});

it.each([
  [
    'a part that PostgreSQL refuses',
    ['1\n', '13\n', ...Array.from({ length: 300 }, () => '2\n')],
    { code: '23514' },
  ],
  ['a part that fails before it is sent', ['1\n', new SyntaxError('no record')], { message: 'no record' }],
])('%s ends the statement, and its connection takes the next one', async (_which, parts, expected) => {
  const { owner } = there.database;
  const { rows, asked } = partsOf(parts);
  await owner.connection().execute(async (one) => {
    await expect(one.executeQuery(CompiledQuery.raw(COPY, [rows]))).rejects.toMatchObject(expected);
    // At once: parts that are still to come may not get into it.
    const again = partsOf(['7\n', '8\n']);
    await one.executeQuery(CompiledQuery.raw(COPY, [again.rows]));
    await setTimeout(20);
    const { rows: kept } = await sql`SELECT a FROM parts WHERE a < 100 ORDER BY a`.execute(one);
    expect(kept).toEqual([{ a: 7 }, { a: 8 }]);
    await sql`DELETE FROM parts WHERE a < 100`.execute(one);
  });
  expect(asked.count).toBeLessThan(50);
});

it('a statement whose time is over ends at the server too, and its connection takes the next one', async () => {
  const server = await startPostgres();
  const pool = new Pool({ connectionString: server.url(), max: 1, query_timeout: 500 });
  takeCopyStatements(pool);
  const client = await pool.connect();
  try {
    await client.query('CREATE TABLE parts (a integer)');
    const over = Promise.withResolvers<void>();
    async function* rows(): AsyncGenerator<Buffer> {
      yield Buffer.from('1\n');
      await over.promise;
      yield Buffer.from('2\n');
    }
    await expect(client.query(COPY, [rows()])).rejects.toThrow('timeout');
    over.resolve();
    const { rows: counted } = await client.query('SELECT count(*)::integer AS count FROM parts');
    expect(counted).toEqual([{ count: 0 }]);
  } finally {
    client.release();
    await pool.end();
    await server.stop();
  }
});
