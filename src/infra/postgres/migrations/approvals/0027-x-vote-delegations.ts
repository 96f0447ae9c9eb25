// Vote delegations: a member of a group of approvers has another person vote for a while.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const voteDelegations: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`CREATE TABLE approval_delegations (
      id text PRIMARY KEY,
      tenant_id text NOT NULL,
      from_user text NOT NULL,
      from_roles text[] NOT NULL,
      to_user text NOT NULL,
      approver_groups text[] NOT NULL CHECK (cardinality(approver_groups) > 0),
      starts_at timestamptz NOT NULL,
      ends_at timestamptz NOT NULL CHECK (ends_at > starts_at),
      created_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz,
      revoked_by text
    )`.execute(db);
    await sql`CREATE INDEX approval_delegations_open ON approval_delegations (tenant_id, ends_at) WHERE revoked_at IS NULL`.execute(
      db,
    );
  },
};
