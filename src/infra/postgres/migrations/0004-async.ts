// Async: in which order queued calls run and when, and the messages that are due when one has ended.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const async: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('calls').addColumn('queue_rank', 'integer').execute();
    await db.schema.alterTable('calls').addColumn('not_before', 'timestamptz').execute();
    // Waiting calls in the order they run; counted per tenant at each acceptance.
    await sql`CREATE INDEX calls_waiting ON calls (queue_rank, created_at, id)
      WHERE status = 'queued' AND kind <> 'sync'`.execute(db);
    await sql`CREATE INDEX calls_waiting_of_tenant ON calls (tenant_id)
      WHERE status = 'queued' AND kind <> 'sync'`.execute(db);
    await db.schema
      .createTable('webhooks')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('call_id', 'text', (column) =>
        column.notNull().unique().references('calls.id').onDelete('cascade'),
      )
      .addColumn('tenant_id', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status IN ('pending', 'delivered', 'dead')`),
      )
      .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('next_attempt_at', 'timestamptz', (column) => column.notNull())
      .addColumn('last_error', 'text', (column) => column.notNull().defaultTo(''))
      .addColumn('created_at', 'timestamptz', (column) => column.notNull())
      .addColumn('finished_at', 'timestamptz')
      .execute();
    await sql`CREATE INDEX webhooks_due ON webhooks (next_attempt_at) WHERE status = 'pending'`.execute(db);
    await sql`CREATE INDEX webhooks_dead ON webhooks (tenant_id, id DESC) WHERE status = 'dead'`.execute(db);
  },
};
