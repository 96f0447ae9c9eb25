// API keys: who may call. Of a secret its hash alone; what is revoked stays, so that records of it can be read.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const apiKeys: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('api_keys')
      // One order everywhere, whatever the locale of the database: lists are paged by it.
      .addColumn('id', sql`text COLLATE "C"`, (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('secret_sha256', 'text', (column) =>
        column.notNull().check(sql`secret_sha256 ~ '^[0-9a-f]{64}$'`),
      )
      .addColumn('previous_sha256', 'text', (column) => column.check(sql`previous_sha256 ~ '^[0-9a-f]{64}$'`))
      .addColumn('previous_expires_at', 'timestamptz')
      .addColumn('tenant', 'text')
      .addColumn('agents', sql`text[]`, (column) => column.notNull())
      .addColumn('key_user', 'text')
      .addColumn('roles', sql`text[]`, (column) => column.notNull())
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'timestamptz')
      .addColumn('revoked_at', 'timestamptz')
      .addColumn('revoked_by', 'text')
      // Their sum grows with every change, in the order of the commits: replicas look at it.
      .addColumn('revision', 'integer', (column) => column.notNull().defaultTo(1))
      .execute();
    await sql`CREATE INDEX api_keys_of_tenant ON api_keys (tenant, id)`.execute(db);
  },
};
