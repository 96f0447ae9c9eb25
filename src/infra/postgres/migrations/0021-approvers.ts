// Approvals: how many people have to approve and who may, who has done so, and what the call would do.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const approvers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`ALTER TABLE approvals
      ADD COLUMN quorum integer NOT NULL DEFAULT 1 CHECK (quorum > 0),
      ADD COLUMN approver_groups text[] NOT NULL DEFAULT '{}',
      ADD COLUMN votes jsonb NOT NULL DEFAULT '[]',
      ADD COLUMN would json`.execute(db);
    // Whoever approved before was the one who had to.
    await sql`UPDATE approvals SET votes = jsonb_build_array(jsonb_build_object('by', decided_by))
      WHERE decided_by IS NOT NULL AND status IN ('approved', 'used')`.execute(db);
  },
};
