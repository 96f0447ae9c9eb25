// Schedules: what is to be called when, for whom. The calls that come of them are rows of `calls`.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const schedules: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('scheduled_tasks')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('task_type', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('schedule_type', 'text', (column) =>
        column.notNull().check(sql`schedule_type IN ('once', 'recurring')`),
      )
      .addColumn('schedule_data', 'jsonb', (column) => column.notNull())
      // Not jsonb: that cannot hold every string that JSON can.
      .addColumn('execution_data', 'json', (column) => column.notNull())
      .addColumn('enabled', 'boolean', (column) => column.notNull())
      .addColumn('created_at', 'timestamptz', (column) => column.notNull())
      .addColumn('last_run', 'timestamptz')
      .addColumn('next_run', 'timestamptz')
      .addColumn('tenant_id', 'text', (column) => column.notNull())
      .addColumn('principal_id', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('arguments_hash', 'text', (column) => column.notNull())
      .addColumn('phrase', 'text', (column) => column.notNull())
      .addColumn('time_zone', 'text', (column) => column.notNull())
      .addColumn('misfire', 'text', (column) =>
        column.notNull().check(sql`misfire IN ('skip', 'once', 'catch_up')`),
      )
      .addColumn('max_catch_up', 'integer', (column) => column.notNull())
      .addColumn('overlap', 'text', (column) =>
        column.notNull().check(sql`overlap IN ('allow', 'skip', 'queue')`),
      )
      .addColumn('end_at', 'timestamptz')
      .addColumn('max_runs', 'integer')
      .addColumn('runs', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('last_status', 'text')
      .addColumn('version', 'integer', (column) => column.notNull().defaultTo(1))
      .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
      .addColumn('finished_at', 'timestamptz')
      .execute();
    // Looked at every second by every replica.
    await sql`CREATE INDEX scheduled_tasks_due ON scheduled_tasks (next_run, id) WHERE enabled`.execute(db);
    await sql`CREATE INDEX scheduled_tasks_of_tenant ON scheduled_tasks (tenant_id, id DESC)`.execute(db);
    await sql`CREATE INDEX scheduled_tasks_age ON scheduled_tasks (finished_at) WHERE finished_at IS NOT NULL`.execute(
      db,
    );
    await sql`CREATE INDEX calls_unfinished_of_schedule ON calls (schedule_id)
      WHERE schedule_id IS NOT NULL AND status IN ('queued', 'running')`.execute(db);
  },
};
