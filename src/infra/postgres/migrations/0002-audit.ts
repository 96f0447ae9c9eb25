// Audit: one row per event, only ever added to; and the indexes that history and reconciliation read by.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const audit: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('audit_records')
      .addColumn('event_id', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('at', 'timestamptz', (column) => column.notNull())
      .addColumn('call_id', 'text', (column) => column.notNull())
      .addColumn('door', 'text', (column) => column.notNull())
      .addColumn('principal_id', 'text', (column) => column.notNull())
      .addColumn('tenant_id', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('requested_tool', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('tool_version', 'text', (column) => column.notNull())
      .addColumn('executor', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('arguments_hash', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('duration_ms', 'double precision', (column) => column.notNull())
      .addColumn('partial_side_effects', 'boolean', (column) => column.notNull())
      .addColumn('registry_version', 'text', (column) => column.notNull())
      .addColumn('trace_id', 'text', (column) => column.notNull())
      .addColumn('notes', 'jsonb')
      .addColumn('recorded_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .execute();
    await sql`CREATE INDEX audit_history ON audit_records (tenant_id, at DESC, event_id DESC)`.execute(db);
    await sql`CREATE INDEX audit_calls ON audit_records (call_id)`.execute(db);
    await sql`CREATE INDEX audit_age ON audit_records (recorded_at)`.execute(db);
    // Calls that began and of whose end nobody has told.
    await sql`CREATE INDEX calls_open ON calls (deadline_at) WHERE kind = 'sync' AND status = 'running'`.execute(
      db,
    );
    await sql`CREATE INDEX call_events_age ON call_events (at)`.execute(db);
  },
};
