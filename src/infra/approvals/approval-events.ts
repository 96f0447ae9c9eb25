// What has happened to an approval, written in the transaction in which it happens; and with it the messages that are due.
import { sql, type Kysely } from 'kysely';
import type { ApprovalEventKind } from '../../ports/approvals/approval-notices.ts';
import type { Tables } from '../postgres/tables.ts';

/** Where gateway.yaml wants messages about approvals to go. */
export interface ApprovalHook {
  readonly name: string;
  readonly url: string;
  /** Only about approvals that members of any of these may give; none: about all. */
  readonly groups: readonly string[];
  /** Only about approvals of these; none: of all. */
  readonly tenants: readonly string[];
  readonly events: readonly ApprovalEventKind[];
}

/** Any number, the same on every replica: events become visible in the order of their numbers. */
const LOCK = 7_274_327;

/** Of the approvals that `which` names; of each, one event of a kind. Gives how many there are now that were not. */
export async function recordEvents(
  trx: Kysely<Tables>,
  kind: ApprovalEventKind,
  which: readonly string[],
  hooks: readonly ApprovalHook[],
): Promise<number> {
  if (which.length === 0) return 0;
  const told = hooks.filter(({ events }) => events.includes(kind));
  const wanted = JSON.stringify(told.map(({ name, groups, tenants }) => ({ name, groups, tenants })));
  await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(trx);
  const { rows } = await sql`
    WITH happened AS (
      INSERT INTO approval_events (tenant_id, approval_id, kind)
      SELECT tenant_id, id, ${kind} FROM approvals WHERE id = ANY(${which}::text[]) ORDER BY id
      ON CONFLICT DO NOTHING RETURNING seq, approval_id
    ), due AS (
      INSERT INTO approval_notices (id, event_seq, hook)
      SELECT gen_random_uuid()::text, h.seq, w.name
      FROM happened h JOIN approvals a ON a.id = h.approval_id,
        json_to_recordset(${wanted}::json) AS w(name text, groups json, tenants json)
      WHERE (json_array_length(w.groups) = 0
          OR EXISTS (SELECT 1 FROM json_array_elements_text(w.groups) g WHERE g = ANY(a.approver_groups)))
        AND (json_array_length(w.tenants) = 0
          OR EXISTS (SELECT 1 FROM json_array_elements_text(w.tenants) t WHERE t = a.tenant_id))
    )
    SELECT seq FROM happened`.execute(trx);
  return rows.length;
}
