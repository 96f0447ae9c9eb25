// Rows beside the audit trail that are of a user, and which of them nobody needs any more.
import { sql, type RawBuilder } from 'kysely';

export interface EndedRows {
  /** What it counts as. */
  readonly of: 'calls' | 'approvals' | 'sessions' | 'schedules';
  readonly table: string;
  readonly isUsers: (userId: string) => RawBuilder<unknown>;
  readonly isEnded: RawBuilder<unknown>;
}

const byUser = (userId: string) => sql`user_id = ${userId}`;

export const ENDED_ROWS: readonly EndedRows[] = [
  {
    of: 'calls',
    table: 'calls',
    isUsers: byUser,
    // With what it said while it ran. Who is to be told of its end is told first, and an unknown outcome is still looked into.
    isEnded: sql`finished_at IS NOT NULL AND status <> 'outcome_unknown'
      AND NOT EXISTS (SELECT FROM webhooks WHERE webhooks.call_id = calls.id AND webhooks.status = 'pending')`,
  },
  {
    of: 'approvals',
    table: 'approvals',
    isUsers: (userId) => sql`(user_id = ${userId} OR requested_by_user = ${userId})`,
    isEnded: sql`(status NOT IN ('pending', 'approved') OR expires_at <= now())`,
  },
  { of: 'sessions', table: 'sessions', isUsers: byUser, isEnded: sql`over_at <= now()` },
  { of: 'schedules', table: 'scheduled_tasks', isUsers: byUser, isEnded: sql`finished_at IS NOT NULL` },
];
