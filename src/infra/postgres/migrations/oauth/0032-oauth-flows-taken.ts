// Authorizations whose code is being exchanged stay until that has ended, so that a disconnect ends them; and who connected what.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const oauthFlowsTaken: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`ALTER TABLE oauth_flows ADD COLUMN taken_at timestamptz, ADD COLUMN created_by_user text`.execute(
      db,
    );
    await sql`ALTER TABLE oauth_connections ADD COLUMN connected_by_user text`.execute(db);
  },
};
