// Rows beside the audit trail that are of a user, and which of them nobody needs any more.
import { sql, type RawBuilder } from 'kysely';

export interface UsersRows {
  readonly table: string;
  /** The column that holds the tenant. */
  readonly tenant: string;
  readonly isUsers: (userId: string) => RawBuilder<unknown>;
}

export interface EndedRows extends UsersRows {
  /** What it counts as. */
  readonly of: 'calls' | 'approvals' | 'sessions' | 'schedules' | 'keys' | 'delegations';
  readonly isEnded: RawBuilder<unknown>;
}

const tenant = 'tenant_id';
const byUser = (userId: string) => sql`user_id = ${userId}`;

export const ENDED_ROWS: readonly EndedRows[] = [
  {
    of: 'calls',
    table: 'calls',
    tenant,
    isUsers: byUser,
    // With what it said while it ran. Who is to be told of its end is told first, and an unknown outcome is still looked into.
    isEnded: sql`finished_at IS NOT NULL AND status <> 'outcome_unknown'
      AND NOT EXISTS (SELECT FROM webhooks WHERE webhooks.call_id = calls.id AND webhooks.status = 'pending')`,
  },
  {
    of: 'approvals',
    table: 'approvals',
    tenant,
    isUsers: (userId) => sql`(user_id = ${userId} OR requested_by_user = ${userId})`,
    isEnded: sql`(status NOT IN ('pending', 'approved') OR expires_at <= now())`,
  },
  { of: 'sessions', table: 'sessions', tenant, isUsers: byUser, isEnded: sql`over_at <= now()` },
  {
    of: 'schedules',
    table: 'scheduled_tasks',
    tenant,
    isUsers: byUser,
    isEnded: sql`finished_at IS NOT NULL`,
  },
  {
    of: 'keys',
    table: 'api_keys',
    tenant: 'tenant',
    isUsers: (userId) => sql`key_user = ${userId}`,
    // One that has expired may be told to go on.
    isEnded: sql`revoked_at IS NOT NULL`,
  },
  {
    of: 'delegations',
    table: 'approval_delegations',
    tenant,
    isUsers: (userId) => sql`(from_user = ${userId} OR to_user = ${userId})`,
    isEnded: sql`(revoked_at IS NOT NULL OR ends_at <= now())`,
  },
];

/** What somebody has set for the user, and takes away again: it ends by nothing else. */
export const SET_ROWS: readonly UsersRows[] = [
  {
    table: 'tool_assignments',
    tenant,
    isUsers: (userId) => sql`(kind = 'user' AND subject = ${userId})`,
  },
];
