// Calls: one row for each, asynchronous ones with what they need to run; and what they said meanwhile.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const calls: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await createCalls(db);
    // History is read newest first within a tenant; the unfinished are few and looked for often.
    await sql`CREATE INDEX calls_history ON calls (tenant_id, created_at DESC, id DESC)`.execute(db);
    await sql`CREATE INDEX calls_age ON calls (finished_at) WHERE finished_at IS NOT NULL`.execute(db);
    await sql`CREATE INDEX calls_unfinished ON calls (status, lease_expires_at)
      WHERE status IN ('queued', 'running')`.execute(db);
    await createEvents(db);
  },
};

async function createCalls(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('calls')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('tenant_id', 'text', (column) => column.notNull())
    .addColumn('principal_id', 'text', (column) => column.notNull())
    .addColumn('agent_id', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('door', 'text', (column) => column.notNull())
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('tool_version', 'text', (column) => column.notNull())
    .addColumn('executor', 'text', (column) => column.notNull())
    .addColumn('arguments_hash', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) =>
      column.notNull().check(sql`kind IN ('sync', 'async', 'scheduled')`),
    )
    .addColumn('status', 'text', (column) =>
      column
        .notNull()
        .check(sql`status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'outcome_unknown')`),
    )
    .addColumn('error_type', 'text')
    .addColumn('reason', 'text')
    .addColumn('read_only', 'boolean', (column) => column.notNull())
    .addColumn('idempotent', 'boolean', (column) => column.notNull())
    .addColumn('partial_side_effects', 'boolean', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('duration_ms', 'double precision')
    .addColumn('registry_version', 'text', (column) => column.notNull())
    .addColumn('trace_id', 'text', (column) => column.notNull())
    .addColumn('notes', 'jsonb')
    .addColumn('request', 'jsonb')
    .addColumn('response', 'jsonb')
    .addColumn('cancel_requested', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('owner', 'text')
    .addColumn('lease_expires_at', 'timestamptz')
    .addColumn('claim', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('schedule_id', 'text')
    .addColumn('fire_time', 'timestamptz')
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('started_at', 'timestamptz')
    .addColumn('finished_at', 'timestamptz')
    .addColumn('deadline_at', 'timestamptz')
    .addUniqueConstraint('calls_one_per_fire_time', ['schedule_id', 'fire_time'])
    .execute();
}

async function createEvents(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('call_events')
    .addColumn('call_id', 'text', (column) => column.notNull().references('calls.id').onDelete('cascade'))
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('at', 'timestamptz', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('data', 'jsonb', (column) => column.notNull())
    .addPrimaryKeyConstraint('call_events_pk', ['call_id', 'seq'])
    .execute();
}
