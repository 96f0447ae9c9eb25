// What the gateway asks PostgreSQL for at every call is planned once a connection.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from 'kysely';
import { databaseCallStore } from '../../src/infra/calls/call-store.ts';
import { Database } from '../../src/infra/postgres/database.ts';
import { DAY_MS, endAs, LEASE_MS, newCall } from '../helpers/async-kit.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { quietLog } from '../helpers/quiet-log.ts';

let postgres: Postgres;
let database: Database;

beforeAll(async () => {
  postgres = await startPostgres();
  const settings = {
    kind: 'postgres',
    url: postgres.url(),
    poolSize: 1,
    ssl: 'disable',
    migrate: true,
  } as const;
  database = await Database.open(settings, quietLog);
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
});

const prepared = async () => {
  const { rows } = await sql<{ name: string; plans: number }>`
    SELECT name, generic_plans + custom_plans AS plans FROM pg_prepared_statements ORDER BY name`.execute(
    database.db,
  );
  return rows;
};

it('a statement that has a name is prepared, and used again', async () => {
  const store = databaseCallStore(database, DAY_MS);
  for (let round = 0; round < 3; round += 1) {
    const call = newCall();
    await store.accept(call, 10);
    const [claim] = await store.claim('a', LEASE_MS, 1);
    expect(claim?.id).toBe(call.id);
    expect(await store.finish({ id: call.id, claim: 1 }, endAs('succeeded'))).toBe(true);
  }
  expect(await prepared()).toEqual(
    ['accept_calls', 'claim_calls', 'finish_calls'].map((name) => ({ name, plans: 3 })),
  );
});

it('a plan that was made while the table was empty still goes by an index when it is not', async () => {
  const plan = await sql<{ 'QUERY PLAN': string }>`EXPLAIN EXECUTE claim_calls('a', 1000, 1)`.execute(
    database.db,
  );
  const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('Index Scan using calls_waiting');
  expect(text).not.toContain('Seq Scan on calls');
});
