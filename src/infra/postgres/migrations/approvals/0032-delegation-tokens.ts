// What the token said by which a vote was handed on: whether that person may still decide is asked with it.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const delegationTokens: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`ALTER TABLE approval_delegations ADD COLUMN from_token jsonb`.execute(db);
  },
};
