// SqlApprovalStore: approvals as rows. Each step is one statement, so no two can interleave; the time is the database's own.
import { sql, type RawBuilder, type Transaction } from 'kysely';
import { uuidv7 } from '../../lib/ids.ts';
import type {
  Approval,
  ApprovalDecision as Decision,
  ApprovalFilter,
  ApprovalStore,
  DecisionResult,
  NewApproval,
  Redemption,
  RedemptionResult,
} from '../../ports/approvals/approval-store.ts';
import type { Database } from '../postgres/database.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import type { Tables } from '../postgres/tables.ts';
import { applyDecision } from './apply-decision.ts';
import {
  approvalOf,
  insertApproval,
  refuseNul,
  SEEN,
  KEPT,
  updateApproval,
  type ApprovalRow,
  type SqlApprovalLimits,
} from './approval-rows.ts';
import { recordEvents } from './approval-events.ts';
import { endRejected, queueApproved } from './waiting-calls.ts';

/** A row that changes between a refusal and the look at why is looked at again. */
const LOOKS = 3;
const DAY_MS = 86_400_000;

export interface ApprovalStoreLimits extends SqlApprovalLimits {
  /** Of a call that its approval puts into the queue; a day where it is left out. */
  readonly maxWaitMs?: number;
}

export class SqlApprovalStore implements ApprovalStore {
  readonly #database: Pick<Database, 'db'>;
  readonly #limits: ApprovalStoreLimits;

  constructor(database: Pick<Database, 'db'>, limits: ApprovalStoreLimits) {
    this.#database = database;
    this.#limits = limits;
  }

  create(asked: NewApproval): Promise<Approval> {
    return withDatabase(() =>
      this.#database.db.transaction().execute((trx) => insertApproval(trx, asked, this.#limits)),
    );
  }

  async get(tenantId: string, id: string): Promise<Approval | undefined> {
    // PostgreSQL would refuse the statement, and that reads like a database that is away.
    if (id.includes('\0')) return undefined;
    const [row] = await this.#rows(
      sql<ApprovalRow>`SELECT ${SEEN} FROM approvals WHERE tenant_id = ${tenantId} AND id = ${id}`,
    );
    return row && approvalOf(row);
  }

  async list(tenantId: string, { status, limit, after }: ApprovalFilter): Promise<readonly Approval[]> {
    const wanted = status === undefined ? sql`true` : sql`status = ${status}`;
    const behind =
      after === undefined
        ? sql`true`
        : sql`("createdAt", id) < (${new Date(after.at)}::timestamptz, ${after.id})`;
    const rows = await this.#rows(sql<ApprovalRow>`
      SELECT * FROM (SELECT ${SEEN} FROM approvals WHERE tenant_id = ${tenantId}) AS seen
      WHERE ${wanted} AND ${behind} ORDER BY "createdAt" DESC, id DESC LIMIT ${Math.max(0, limit)}`);
    return rows.map(approvalOf);
  }

  /** The decision and its audit record in one; of two that decide at once, the second sees what the first did. */
  decide(tenantId: string, id: string, decision: Decision): Promise<DecisionResult | undefined> {
    return withDatabase(() =>
      this.#database.db.transaction().execute(async (trx) => {
        const { rows } = await sql<ApprovalRow>`
          SELECT ${SEEN} FROM approvals WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`.execute(trx);
        const [row] = rows;
        if (row === undefined) return undefined;
        const comment = decision.comment?.replaceAll('\0', '').toWellFormed();
        const { outcome, approval, changed } = applyDecision(approvalOf(row), {
          ...decision,
          ...(comment !== undefined && { comment }),
        });
        if (!changed) return { outcome, approval };
        const settled = await this.#settleCall(trx, approval);
        if (settled === undefined)
          return { outcome: 'expired', approval: { ...approval, status: 'expired' } };
        const written = await updateApproval(settled).execute(trx);
        await recordDecision(approval, decision, comment).execute(trx);
        if (settled.status !== 'pending') await recordEvents(trx, 'decided', [id], this.#limits.hooks ?? []);
        return { outcome, approval: written.rows[0] === undefined ? settled : approvalOf(written.rows[0]) };
      }),
    );
  }

  /**
   * What a decision makes of the call that waits for it. The approval is used up by queueing the call; undefined: the call
   * has ended at this moment.
   */
  async #settleCall(trx: Transaction<Tables>, approval: Approval): Promise<Approval | undefined> {
    if (approval.callId === undefined) return approval;
    if (approval.status === 'rejected') await endRejected(trx, approval);
    if (approval.status !== 'approved') return approval;
    const isQueued = await queueApproved(trx, approval, this.#limits.maxWaitMs ?? DAY_MS);
    return isQueued ? { ...approval, status: 'used' } : undefined;
  }

  async redeem(redemption: Redemption): Promise<RedemptionResult> {
    const { tokenHash, tenantId, tool, toolHash, argumentsHash, requestedBy, agentId, userId } = redemption;
    refuseNul(agentId, userId);
    for (let look = 1; ; look += 1) {
      const [used] = await this.#rows(sql<ApprovalRow>`
        UPDATE approvals SET status = 'used'
        WHERE token_hash = ${tokenHash} AND tenant_id = ${tenantId} AND status = 'approved' AND expires_at > now()
          AND tool = ${tool} AND tool_hash = ${toolHash} AND arguments_hash = ${argumentsHash}
          AND requested_by = ${requestedBy} AND agent_id = ${agentId} AND user_id = ${userId}
        RETURNING ${KEPT}`);
      if (used !== undefined) return { redeemed: true, approval: approvalOf(used) };
      const refusal = await this.#whyNot(redemption);
      if (refusal !== undefined) return refusal;
      if (look === LOOKS) throw new Error(`approval changes faster than it can be looked at`);
    }
  }

  /** Undefined: nothing speaks against it any more. */
  async #whyNot(redemption: Redemption): Promise<Refusal | undefined> {
    const { tokenHash, tenantId } = redemption;
    const [row] = await this.#rows(
      sql<ApprovalRow>`SELECT ${SEEN} FROM approvals WHERE token_hash = ${tokenHash} AND tenant_id = ${tenantId}`,
    );
    return refusalOf(row && approvalOf(row), redemption);
  }

  #rows(statement: RawBuilder<ApprovalRow>): Promise<readonly ApprovalRow[]> {
    return withDatabase(async () => (await statement.execute(this.#database.db)).rows);
  }
}

/** The outcome of a vote that is not the last one is `pending`. */
function recordDecision(
  { tenantId, id, status, quorum, votes }: Approval,
  { by, byUser, forUser }: Decision,
  comment: string | undefined,
): RawBuilder<unknown> {
  const notes = JSON.stringify({
    approval_id: id,
    ...(byUser !== undefined && { decided_by_user: byUser }),
    ...(forUser !== undefined && { decided_for_user: forUser }),
    ...(comment !== undefined && { comment }),
    ...(quorum > 1 && { approvals: votes.length, needed: quorum }),
  });
  return sql`
    INSERT INTO audit_inbox (record)
    SELECT json_build_object('event_id', ${uuidv7(Date.now())}::text, 'kind', 'approval', 'at', now(),
      'principal_id', ${by}::text, 'tenant_id', tenant_id, 'agent_id', agent_id, 'user_id', user_id,
      'session_id', session_id, 'tool', tool, 'tool_version', tool_version, 'outcome', ${status}::text,
      'arguments_hash', arguments_hash, 'notes', ${notes}::json)::text
    FROM approvals WHERE tenant_id = ${tenantId} AND id = ${id}`;
}

type Refusal = RedemptionResult & { readonly redeemed: false };

/** Why an approval, as it stands now, is not good for that call; undefined: nothing speaks against it. */
export function refusalOf(approval: Approval | undefined, redemption: Redemption): Refusal | undefined {
  if (approval === undefined) return { redeemed: false, why: 'unknown' };
  if (!isSameCall(approval, redemption)) return { redeemed: false, why: 'other_call' };
  const { status } = approval;
  if (status === 'used' || status === 'rejected' || status === 'expired' || status === 'cancelled')
    return { redeemed: false, why: status, approval };
  if (approval.toolHash !== redemption.toolHash) return { redeemed: false, why: 'tool_changed', approval };
  return status === 'pending' ? { redeemed: false, why: 'pending', approval } : undefined;
}

/** The tool's definition is compared apart, to be able to say that only it has changed. */
function isSameCall(approval: Approval, redemption: Redemption): boolean {
  return (
    approval.tool === redemption.tool &&
    approval.argumentsHash === redemption.argumentsHash &&
    approval.requestedBy === redemption.requestedBy &&
    approval.agentId === redemption.agentId &&
    approval.userId === redemption.userId
  );
}
