// The rows of approvals: how one is written where there is room for it, and how it is read again.
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { toolFailure } from '../../contract/call/failure.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval, NewApproval } from '../../ports/approvals/approval-store.ts';
import { columns } from '../postgres/columns.ts';
import type { Tables } from '../postgres/tables.ts';
import { recordEvents, type ApprovalHook } from './approval-events.ts';

export interface SqlApprovalLimits {
  /** Undecided at once, all tenants together; those that come in at the same moment may pass it. */
  readonly maxPending: number;
  readonly maxPendingPerTenant?: number;
  /** Arguments of undecided ones, in bytes of JSON. */
  readonly maxBytes?: number;
  readonly maxBytesPerTenant?: number;
  /** Who is told what happens to an approval. */
  readonly hooks?: readonly ApprovalHook[];
}

const DEFAULTS = { maxPendingPerTenant: 2_000, maxBytes: 64 << 20, maxBytesPerTenant: 16 << 20 };

/** As it is read: times are Dates, and what nobody has said yet is null. */
export interface ApprovalRow extends Omit<
  Approval,
  'createdAt' | 'expiresAt' | 'decidedBy' | 'decidedAt' | 'comment' | 'would' | 'callId'
> {
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly comment: string | null;
  readonly would: JsonObject | null;
  readonly callId: string | null;
}

const USABLE = sql`status IN ('pending', 'approved')`;
// oxfmt-ignore
export const SEEN_NAMES = [
  'id', 'tenantId', 'tool', 'toolVersion', 'toolHash', 'argumentsHash', 'arguments', 'riskLevel', 'requestedBy',
  'requestedByUser', 'agentId', 'userId', 'sessionId', 'decidedBy', 'decidedAt', 'comment', 'createdAt', 'expiresAt',
  'quorum', 'approverGroups', 'votes', 'would', 'callId',
] as const;
export const KEPT = columns<ApprovalRow>([...SEEN_NAMES, 'status']);
/** As it stands now, whether or not the row says so yet. */
export function seenStatus(table: string) {
  const [status, expires] = [sql.ref(`${table}.status`), sql.ref(`${table}.expires_at`)];
  return sql`CASE WHEN ${status} IN ('pending', 'approved') AND ${expires} <= now() THEN 'expired' ELSE ${status} END`;
}
export const SEEN = sql`${columns<ApprovalRow>(SEEN_NAMES)}, ${seenStatus('approvals')} AS status`;

/** In a transaction, and with the event that tells of it. Throws ToolFailure UNAVAILABLE (APPROVALS_FULL). */
export async function insertApproval(
  db: Kysely<Tables>,
  { tokenHash, ...asked }: NewApproval,
  limits: SqlApprovalLimits,
  callId: string | null = null,
): Promise<Approval> {
  refuseNul(asked.agentId, asked.userId, asked.sessionId, asked.requestedByUser);
  const text = JSON.stringify(asked.arguments);
  const would = asked.would === undefined ? null : JSON.stringify(asked.would);
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(would ?? '');
  const {
    maxPending,
    maxPendingPerTenant,
    maxBytes,
    maxBytesPerTenant,
    hooks = [],
  } = { ...DEFAULTS, ...limits };
  const { rows } = await sql<ApprovalRow>`
    WITH waiting AS (
      SELECT count(*) AS pending, COALESCE(sum(arguments_bytes), 0) AS bytes,
        count(*) FILTER (WHERE tenant_id = ${asked.tenantId}) AS own_pending,
        COALESCE(sum(arguments_bytes) FILTER (WHERE tenant_id = ${asked.tenantId}), 0) AS own_bytes
      FROM approvals WHERE ${USABLE} AND status = 'pending' AND expires_at > now()
    )
    INSERT INTO approvals (id, tenant_id, tool, tool_version, tool_hash, arguments_hash, arguments, arguments_bytes,
      risk_level, requested_by, requested_by_user, agent_id, user_id, session_id, token_hash, status, created_at, expires_at,
      quorum, approver_groups, would, call_id)
    SELECT ${asked.id}, ${asked.tenantId}, ${asked.tool}, ${asked.toolVersion}, ${asked.toolHash}, ${asked.argumentsHash},
      ${text}::json, ${bytes}::integer, ${asked.riskLevel}, ${asked.requestedBy}, ${asked.requestedByUser}, ${asked.agentId},
      ${asked.userId}, ${asked.sessionId}, ${tokenHash}, 'pending', ${new Date(asked.createdAt)}, ${endOf(asked)},
      ${asked.quorum}::integer, ${asked.approverGroups}::text[], ${would}::json, ${callId}
    FROM waiting
    WHERE pending < ${maxPending} AND own_pending < ${maxPendingPerTenant}
      AND bytes + ${bytes} <= ${maxBytes} AND own_bytes + ${bytes} <= ${maxBytesPerTenant}
    RETURNING ${KEPT}`.execute(db);
  if (rows[0] === undefined)
    throw toolFailure('APPROVALS_FULL', 'Too many calls wait for approval: have some of them decided first.');
  await recordEvents(db, 'asked', [asked.id], hooks);
  return approvalOf(rows[0]);
}

/** Whether it has expired is told by the database's time, so that it ends by that, too: the dates of gateways differ. */
export function endOf({
  createdAt,
  expiresAt,
}: Pick<NewApproval, 'createdAt' | 'expiresAt'>): RawBuilder<Date> {
  return sql<Date>`date_trunc('milliseconds', now() + ${expiresAt - createdAt}::float8 * interval '1 millisecond')`;
}

/** As decided now, by the database's own time. */
export function updateApproval(approval: Approval): RawBuilder<ApprovalRow> {
  const { tenantId, id, status, decidedBy, comment, votes } = approval;
  const decided = decidedBy === undefined ? sql`NULL` : sql`now()`;
  return sql<ApprovalRow>`
    UPDATE approvals SET status = ${status}, votes = ${JSON.stringify(votes)}::jsonb, decided_by = ${decidedBy ?? null},
      comment = ${comment ?? null}, decided_at = ${decided}
    WHERE tenant_id = ${tenantId} AND id = ${id} RETURNING ${KEPT}`;
}

/** Callers choose these words, and PostgreSQL has none with a NUL in it. */
export function refuseNul(...words: readonly string[]): void {
  if (!words.some((word) => word.includes('\0'))) return;
  throw toolFailure(
    'MALFORMED_CALL',
    'A call that needs approval may not have a NUL character in its context.',
  );
}

export function approvalOf(row: ApprovalRow): Approval {
  const { createdAt, expiresAt, decidedBy, decidedAt, comment, would, callId, ...same } = row;
  return {
    ...same,
    createdAt: createdAt.getTime(),
    expiresAt: expiresAt.getTime(),
    ...(decidedBy !== null && { decidedBy }),
    ...(decidedAt !== null && { decidedAt: decidedAt.getTime() }),
    ...(comment !== null && { comment }),
    ...(would !== null && { would }),
    ...(callId !== null && { callId }),
  };
}
