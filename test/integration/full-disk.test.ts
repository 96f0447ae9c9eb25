// A database whose disk is full answers questions as ever: the watch tells it all the same, and when there is room again.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DatabaseWatch } from '../../src/infra/postgres/database-watch.ts';
import { GatewayDatabase } from '../../src/infra/postgres/gateway-database.ts';
import { TAKES_ROOM } from '../../src/infra/postgres/roles/full-disk.ts';
import { seededServer, type TestServer } from '../helpers/embedded-postgres.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { quietLog } from '../helpers/quiet-log.ts';

let own: TestServer;
let database: GatewayDatabase;
let watch: DatabaseWatch;
const clock = new FakeClock();
const shown: number[] = [];

beforeAll(async () => {
  own = seededServer();
  const settings = { kind: 'embedded', server: own.server, migrate: true, poolSize: 2 } as const;
  const degraded = { set: (value: number) => void shown.push(value), add: () => undefined };
  database = new GatewayDatabase(settings, { clock, log: quietLog });
  await database.openNow();
  watch = new DatabaseWatch({ settings, clock, log: quietLog, degraded, fullDisk: database.fullDisk });
  watch.start();
});
afterAll(async () => {
  await watch?.stop();
  await database?.close();
  await own?.end();
});

/** One look after another, until it shows that. */
async function looksUntil(isFull: boolean): Promise<void> {
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return watch.isFull;
    })
    .toBe(isFull);
}

it('what it asks takes room on the disk', async () => {
  const { pool } = await database.opened();
  const before = await written();
  await pool.query(TAKES_ROOM);
  await expect.poll(written).toBeGreaterThan(before);
});

it('a statement that is refused for it shows as degraded, until something that takes room is done', async () => {
  await looksUntil(false);
  const refused = sql`DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`;
  for (const db of [database.db, database.owner]) {
    await expect(refused.execute(db)).rejects.toMatchObject({ code: '53100' });
    await looksUntil(true);
    expect([shown.at(-1), watch.isAway]).toEqual([1, false]);
    await looksUntil(false);
    expect(shown.at(-1)).toBe(0);
  }
});

async function written(): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`SELECT temp_bytes::text AS bytes FROM pg_stat_database
    WHERE datname = current_database()`.execute(database.owner);
  return Number(rows[0]?.bytes);
}
