// Tasks: the calls that a credential had accepted at the MCP door are found without looking at those of all others.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const tasks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`CREATE INDEX calls_tasks ON calls (tenant_id, principal_id, created_at DESC, id DESC)
      WHERE kind = 'async' AND door = 'mcp'`.execute(db);
  },
};
