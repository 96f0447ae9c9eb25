// Agents of tenants, and what is configured for each of their tools. Of secrets there are sealed texts alone.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const agents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // One row, written by every change: whoever changes something waits for those before, and replicas look at it.
    await sql`CREATE TABLE agents_generation (id smallint PRIMARY KEY CHECK (id = 1), generation bigint NOT NULL)`.execute(
      db,
    );
    // One order everywhere, whatever the locale of the database: lists are paged by it.
    await sql`CREATE TABLE agents (
      tenant_id text COLLATE "C" NOT NULL,
      name text COLLATE "C" NOT NULL,
      description text NOT NULL DEFAULT '',
      revision bigint NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      created_by text NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      updated_by text NOT NULL,
      PRIMARY KEY (tenant_id, name)
    )`.execute(db);
    await sql`CREATE TABLE agent_tools (
      tenant_id text COLLATE "C" NOT NULL,
      agent text COLLATE "C" NOT NULL,
      tool text COLLATE "C" NOT NULL,
      is_enabled boolean NOT NULL,
      config jsonb NOT NULL,
      sealed jsonb NOT NULL,
      schema_hash text NOT NULL,
      revision bigint NOT NULL,
      generation bigint NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      updated_by text NOT NULL,
      PRIMARY KEY (tenant_id, agent, tool),
      FOREIGN KEY (tenant_id, agent) REFERENCES agents (tenant_id, name) ON DELETE CASCADE
    )`.execute(db);
  },
};
