// Approvals: what waits for a human, and how it was decided. Of the token, the hash alone.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const approvals: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('approvals')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('tenant_id', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('tool_version', 'text', (column) => column.notNull())
      .addColumn('tool_hash', 'text', (column) => column.notNull())
      .addColumn('arguments_hash', 'text', (column) => column.notNull())
      // Not jsonb, which keeps neither a NUL nor the text as it was: an approver sees exactly what will run.
      .addColumn('arguments', 'json', (column) => column.notNull())
      .addColumn('arguments_bytes', 'integer', (column) => column.notNull())
      .addColumn('risk_level', 'text', (column) => column.notNull())
      .addColumn('requested_by', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status IN ('pending', 'approved', 'rejected', 'expired', 'used')`),
      )
      .addColumn('decided_by', 'text')
      .addColumn('decided_at', 'timestamptz')
      .addColumn('comment', 'text')
      .addColumn('created_at', 'timestamptz', (column) => column.notNull())
      .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
      .execute();
    await sql`CREATE INDEX approvals_of_tenant ON approvals (tenant_id, created_at DESC, id DESC)`.execute(
      db,
    );
    await sql`CREATE INDEX approvals_open ON approvals (expires_at) WHERE status IN ('pending', 'approved')`.execute(
      db,
    );
    await sql`CREATE INDEX approvals_age ON approvals (expires_at)`.execute(db);
  },
};
