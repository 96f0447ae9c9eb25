// Definitions of tools: every version that was ever in force, which one is, and who changed that and why.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const toolSpecs: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('tool_versions')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('content_hash', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      // json, not jsonb: keys stay in the order in which agents are shown them.
      .addColumn('document', 'json', (column) => column.notNull())
      .addColumn('source', 'text', (column) => column.notNull().check(sql`source IN ('database', 'loader')`))
      .addColumn('base_dir', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .addColumn('note', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('tool_versions_pk', ['name', 'content_hash'])
      .execute();
    await sql`CREATE INDEX tool_versions_age ON tool_versions (name, created_at DESC)`.execute(db);
    await sql`CREATE INDEX tool_versions_called ON tool_versions (name, version, created_at DESC)`.execute(
      db,
    );
    await db.schema
      .createTable('tool_heads')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('content_hash', 'text', (column) => column.notNull())
      .addColumn('enabled', 'boolean', (column) => column.notNull())
      .addColumn('revision', 'integer', (column) => column.notNull())
      .addColumn('updated_by', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .addColumn('note', 'text', (column) => column.notNull())
      .addForeignKeyConstraint('tool_heads_version', ['name', 'content_hash'], 'tool_versions', [
        'name',
        'content_hash',
      ])
      .execute();
    await db.schema
      .createTable('tool_changes')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('revision', 'integer', (column) => column.notNull())
      .addColumn('action', 'text', (column) =>
        column.notNull().check(sql`action IN ('put', 'rollback', 'disable')`),
      )
      .addColumn('content_hash', 'text', (column) => column.notNull())
      .addColumn('changed_by', 'text', (column) => column.notNull())
      .addColumn('note', 'text', (column) => column.notNull())
      .addColumn('changed_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .addPrimaryKeyConstraint('tool_changes_pk', ['name', 'revision'])
      .execute();
  },
};
