// Sessions: conversations that were declared, and which tools each is made in.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const sessions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('session_registries')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('version', 'text', (column) => column.notNull())
      // Content hashes by name of the tool.
      .addColumn('tools', 'jsonb', (column) => column.notNull())
      .addColumn('needed_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .execute();
    await db.schema
      .createTable('sessions')
      // One order everywhere, whatever the locale of the database: lists are paged by it.
      .addColumn('id', sql`text COLLATE "C"`, (column) => column.primaryKey())
      .addColumn('tenant_id', 'text', (column) => column.notNull())
      .addColumn('principal_id', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('mode', 'text')
      .addColumn('registry_version', 'text', (column) => column.notNull())
      .addColumn('registry_hash', 'text', (column) => column.notNull())
      .addColumn('turn', 'integer', (column) => column.notNull().defaultTo(1))
      .addColumn('idle_ms', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .addColumn('last_used_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
      .addColumn('over_at', 'timestamptz', (column) => column.notNull())
      .addColumn('ended_at', 'timestamptz')
      .addColumn('ended_by', 'text')
      .execute();
    await sql`CREATE INDEX sessions_of_tenant ON sessions (tenant_id, id)`.execute(db);
    await sql`CREATE INDEX sessions_over ON sessions (over_at)`.execute(db);
    await sql`CREATE INDEX sessions_registry ON sessions (registry_hash)`.execute(db);
  },
};
