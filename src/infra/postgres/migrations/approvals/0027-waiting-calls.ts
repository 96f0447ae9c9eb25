// Waiting calls: a call that was accepted and runs as soon as its approval is given; and approvals that their caller closed.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const waitingCalls: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // NOT VALID: rows that are there keep an older check, and are not read again under a lock.
    await sql`ALTER TABLE calls DROP CONSTRAINT calls_status_check, ADD CONSTRAINT calls_status_check
      CHECK (status IN ('waiting_approval', 'queued', 'running', 'succeeded', 'failed', 'cancelled', 'outcome_unknown'))
      NOT VALID`.execute(db);
    await sql`CREATE INDEX calls_waiting_approval ON calls (deadline_at) WHERE status = 'waiting_approval'`.execute(
      db,
    );
    await sql`ALTER TABLE approvals DROP CONSTRAINT approvals_status_check, ADD CONSTRAINT approvals_status_check
      CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'used', 'cancelled')) NOT VALID,
      ADD COLUMN call_id text`.execute(db);
    await sql`CREATE UNIQUE INDEX approvals_of_call ON approvals (call_id) WHERE call_id IS NOT NULL`.execute(
      db,
    );
  },
};
