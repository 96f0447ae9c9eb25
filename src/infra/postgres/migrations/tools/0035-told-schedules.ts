// Schedules: who is told of the end of each run, and those of one credential, agent and user are found without all others.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const toldSchedules: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`ALTER TABLE scheduled_tasks ADD COLUMN callback_url text`.execute(db);
    await sql`CREATE INDEX scheduled_tasks_of_owner ON scheduled_tasks (tenant_id, principal_id, agent_id, user_id, id DESC)`.execute(
      db,
    );
  },
};
