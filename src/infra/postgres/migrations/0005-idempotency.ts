// Idempotency keys: who holds each, until when it is believed to be alive, and how the call ended.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const idempotency: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('idempotency_keys')
      .addColumn('tenant_id', 'text', (column) => column.notNull())
      .addColumn('principal_id', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('call_id', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status IN ('in_progress', 'ended', 'unknown')`),
      )
      .addColumn('attempt', 'integer', (column) => column.notNull())
      .addColumn('lease_expires_at', 'timestamptz', (column) => column.notNull())
      .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
      // Text, not jsonb: it is given back as it was, byte for byte.
      .addColumn('outcome', 'text')
      .addPrimaryKeyConstraint('idempotency_keys_pk', ['tenant_id', 'principal_id', 'tool', 'key'])
      .execute();
    await sql`CREATE INDEX idempotency_keys_age ON idempotency_keys (expires_at)`.execute(db);
    await sql`CREATE INDEX idempotency_keys_unknown ON idempotency_keys (tenant_id, call_id)
      WHERE status <> 'ended'`.execute(db);
  },
};
