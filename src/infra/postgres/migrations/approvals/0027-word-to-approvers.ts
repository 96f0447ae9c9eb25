// Word to approvers: what has happened to approvals, in order; and the messages about it that are due to hooks.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const wordToApprovers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`CREATE TABLE approval_events (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      tenant_id text NOT NULL,
      approval_id text NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('asked', 'expiring', 'decided')),
      at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (approval_id, kind)
    )`.execute(db);
    await sql`CREATE INDEX approval_events_of_tenant ON approval_events (tenant_id, seq)`.execute(db);
    await sql`CREATE TABLE approval_notices (
      id text PRIMARY KEY,
      event_seq bigint NOT NULL REFERENCES approval_events (seq) ON DELETE CASCADE,
      hook text NOT NULL,
      status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'dead')),
      attempts integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz NOT NULL DEFAULT now(),
      last_error text NOT NULL DEFAULT '',
      finished_at timestamptz,
      UNIQUE (event_seq, hook)
    )`.execute(db);
    await sql`CREATE INDEX approval_notices_due ON approval_notices (next_attempt_at) WHERE status = 'pending'`.execute(
      db,
    );
  },
};
