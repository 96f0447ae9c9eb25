// Fewer index entries for each call: one is written anew at every change of its status, in every index it is in.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const fewerIndexEntries: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // Only scheduled calls have a fire time.
    await sql`ALTER TABLE calls DROP CONSTRAINT calls_one_per_fire_time`.execute(db);
    await sql`CREATE UNIQUE INDEX calls_one_per_fire_time ON calls (schedule_id, fire_time)
      WHERE schedule_id IS NOT NULL`.execute(db);
    // Of the waiting ones there are indexes already.
    await sql`DROP INDEX calls_unfinished`.execute(db);
    await sql`CREATE INDEX calls_leased ON calls (lease_expires_at) WHERE status = 'running' AND kind <> 'sync'`.execute(
      db,
    );
  },
};
