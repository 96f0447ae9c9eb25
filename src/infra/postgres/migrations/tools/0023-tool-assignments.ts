// Which version of a tool a tenant, an agent or a user gets in place of the one in force.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const toolAssignments: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // One row, written by every change: whoever changes something waits for those before, and replicas look at it.
    await sql`CREATE TABLE tool_assignments_generation (
      id smallint PRIMARY KEY CHECK (id = 1),
      generation bigint NOT NULL
    )`.execute(db);
    await sql`CREATE TABLE tool_assignments (
      tenant_id text COLLATE "C" NOT NULL,
      tool text COLLATE "C" NOT NULL,
      kind text NOT NULL CHECK (kind IN ('tenant', 'agent', 'user')),
      subject text COLLATE "C" NOT NULL,
      content_hash text NOT NULL,
      version text NOT NULL,
      reason text NOT NULL,
      revision bigint NOT NULL UNIQUE,
      assigned_at timestamptz NOT NULL DEFAULT now(),
      assigned_by text NOT NULL,
      PRIMARY KEY (tenant_id, tool, kind, subject)
    )`.execute(db);
  },
};
