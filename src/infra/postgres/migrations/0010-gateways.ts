// Gateways: which of them live, and how far their journals are in the database.
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const gateways: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('gateways')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('alive_at', 'timestamptz', (column) => column.notNull())
      .addColumn('steady_since', 'timestamptz', (column) => column.notNull())
      .addColumn('shipped_to', 'timestamptz')
      .execute();
  },
};
