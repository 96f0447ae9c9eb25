// SqlApprovalStore: approvals as rows. Each step is one statement, so no two can interleave; the time is the database's own.
import { sql, type RawBuilder } from 'kysely';
import { toolFailure } from '../../contract/call/failure.ts';
import { uuidv7 } from '../../lib/ids.ts';
import type {
  Approval,
  ApprovalDecision as Decision,
  ApprovalStatus,
  ApprovalStore,
  DecisionResult,
  NewApproval,
  Redemption,
  RedemptionResult,
} from '../../ports/approval-store.ts';
import type { Database } from '../postgres/database.ts';
import type { JsonObject } from '../../contract/json.ts';
import { applyDecision } from './apply-decision.ts';
import { columns } from '../postgres/columns.ts';
import { withDatabase } from '../postgres/database-failures.ts';

export interface SqlApprovalLimits {
  /** Undecided at once, all tenants together; those that come in at the same moment may pass it. */
  readonly maxPending: number;
  readonly maxPendingPerTenant?: number;
  /** Arguments of undecided ones, in bytes of JSON. */
  readonly maxBytes?: number;
  readonly maxBytesPerTenant?: number;
}

/** As it is read: times are Dates, and what nobody has said yet is null. */
interface Row extends Omit<
  Approval,
  'createdAt' | 'expiresAt' | 'decidedBy' | 'decidedAt' | 'comment' | 'would'
> {
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly comment: string | null;
  readonly would: JsonObject | null;
}

const USABLE = sql`status IN ('pending', 'approved')`;
// prettier-ignore
const NAMES = [
  'id', 'tenantId', 'tool', 'toolVersion', 'toolHash', 'argumentsHash', 'arguments', 'riskLevel', 'requestedBy',
  'requestedByUser', 'agentId', 'userId', 'sessionId', 'decidedBy', 'decidedAt', 'comment', 'createdAt', 'expiresAt',
  'quorum', 'approverGroups', 'votes', 'would',
] as const;
const KEPT = columns<Row>([...NAMES, 'status']);
/** As it stands now, whether or not the row says so yet. */
const SEEN = sql`${columns<Row>(NAMES)},
  CASE WHEN ${USABLE} AND expires_at <= now() THEN 'expired' ELSE status END AS status`;
/** A row that changes between a refusal and the look at why is looked at again. */
const LOOKS = 3;

export class SqlApprovalStore implements ApprovalStore {
  readonly #database: Pick<Database, 'db'>;
  readonly #limits: Required<SqlApprovalLimits>;

  constructor(database: Pick<Database, 'db'>, limits: SqlApprovalLimits) {
    this.#database = database;
    this.#limits = { maxPendingPerTenant: 2_000, maxBytes: 64 << 20, maxBytesPerTenant: 16 << 20, ...limits };
  }

  async create({ tokenHash, ...asked }: NewApproval): Promise<Approval> {
    refuseNul(asked.agentId, asked.userId, asked.sessionId, asked.requestedByUser);
    const text = JSON.stringify(asked.arguments);
    const would = asked.would === undefined ? null : JSON.stringify(asked.would);
    const bytes = Buffer.byteLength(text) + Buffer.byteLength(would ?? '');
    const { maxPending, maxPendingPerTenant, maxBytes, maxBytesPerTenant } = this.#limits;
    const [row] = await this.#rows(sql<Row>`
      WITH waiting AS (
        SELECT count(*) AS pending, COALESCE(sum(arguments_bytes), 0) AS bytes,
          count(*) FILTER (WHERE tenant_id = ${asked.tenantId}) AS own_pending,
          COALESCE(sum(arguments_bytes) FILTER (WHERE tenant_id = ${asked.tenantId}), 0) AS own_bytes
        FROM approvals WHERE ${USABLE} AND status = 'pending' AND expires_at > now()
      )
      INSERT INTO approvals (id, tenant_id, tool, tool_version, tool_hash, arguments_hash, arguments, arguments_bytes,
        risk_level, requested_by, requested_by_user, agent_id, user_id, session_id, token_hash, status, created_at, expires_at,
        quorum, approver_groups, would)
      SELECT ${asked.id}, ${asked.tenantId}, ${asked.tool}, ${asked.toolVersion}, ${asked.toolHash}, ${asked.argumentsHash},
        ${text}::json, ${bytes}::integer, ${asked.riskLevel}, ${asked.requestedBy}, ${asked.requestedByUser}, ${asked.agentId},
        ${asked.userId}, ${asked.sessionId}, ${tokenHash}, 'pending', ${new Date(asked.createdAt)}, ${new Date(asked.expiresAt)},
        ${asked.quorum}::integer, ${asked.approverGroups}::text[], ${would}::json
      FROM waiting
      WHERE pending < ${maxPending} AND own_pending < ${maxPendingPerTenant}
        AND bytes + ${bytes} <= ${maxBytes} AND own_bytes + ${bytes} <= ${maxBytesPerTenant}
      RETURNING ${KEPT}`);
    if (row !== undefined) return approvalOf(row);
    throw toolFailure('APPROVALS_FULL', 'Too many calls wait for approval: have some of them decided first.');
  }

  async get(tenantId: string, id: string): Promise<Approval | undefined> {
    const [row] = await this.#rows(
      sql<Row>`SELECT ${SEEN} FROM approvals WHERE tenant_id = ${tenantId} AND id = ${id}`,
    );
    return row && approvalOf(row);
  }

  async list(
    tenantId: string,
    { status, limit }: { status?: ApprovalStatus; limit: number },
  ): Promise<readonly Approval[]> {
    const wanted = status === undefined ? sql`true` : sql`status = ${status}`;
    const rows = await this.#rows(sql<Row>`
      SELECT * FROM (SELECT ${SEEN} FROM approvals WHERE tenant_id = ${tenantId}) AS seen
      WHERE ${wanted} ORDER BY "createdAt" DESC, id DESC LIMIT ${Math.max(0, limit)}`);
    return rows.map(approvalOf);
  }

  /** The decision and its audit record in one; of two that decide at once, the second sees what the first did. */
  decide(tenantId: string, id: string, decision: Decision): Promise<DecisionResult | undefined> {
    return withDatabase(() =>
      this.#database.db.transaction().execute(async (trx) => {
        const { rows } = await sql<Row>`
          SELECT ${SEEN} FROM approvals WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`.execute(trx);
        const [row] = rows;
        if (row === undefined) return undefined;
        const comment = decision.comment?.replaceAll('\0', '').toWellFormed();
        const { outcome, approval, changed } = applyDecision(approvalOf(row), {
          ...decision,
          ...(comment !== undefined && { comment }),
        });
        if (!changed) return { outcome, approval };
        const written = await write(approval).execute(trx);
        await recordDecision(approval, decision, comment).execute(trx);
        return { outcome, approval: written.rows[0] === undefined ? approval : approvalOf(written.rows[0]) };
      }),
    );
  }

  async redeem(redemption: Redemption): Promise<RedemptionResult> {
    const { tokenHash, tenantId, tool, toolHash, argumentsHash, requestedBy, agentId, userId } = redemption;
    refuseNul(agentId, userId);
    for (let look = 1; ; look += 1) {
      const [used] = await this.#rows(sql<Row>`
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
      sql<Row>`SELECT ${SEEN} FROM approvals WHERE token_hash = ${tokenHash} AND tenant_id = ${tenantId}`,
    );
    return refusalOf(row && approvalOf(row), redemption);
  }

  #rows(statement: RawBuilder<Row>): Promise<readonly Row[]> {
    return withDatabase(async () => (await statement.execute(this.#database.db)).rows);
  }
}

function write({ tenantId, id, status, decidedBy, comment, votes }: Approval): RawBuilder<Row> {
  const decided = decidedBy === undefined ? sql`NULL` : sql`now()`;
  return sql<Row>`
    UPDATE approvals SET status = ${status}, votes = ${JSON.stringify(votes)}::jsonb, decided_by = ${decidedBy ?? null},
      comment = ${comment ?? null}, decided_at = ${decided}
    WHERE tenant_id = ${tenantId} AND id = ${id} RETURNING ${KEPT}`;
}

/** The outcome of a vote that is not the last one is `pending`. */
function recordDecision(
  { tenantId, id, status, quorum, votes }: Approval,
  { by, byUser }: Decision,
  comment: string | undefined,
): RawBuilder<unknown> {
  const notes = JSON.stringify({
    approval_id: id,
    ...(byUser !== undefined && { decided_by_user: byUser }),
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

/** Callers choose these words, and PostgreSQL has none with a NUL in it. */
function refuseNul(...words: readonly string[]): void {
  if (!words.some((word) => word.includes('\0'))) return;
  throw toolFailure(
    'MALFORMED_CALL',
    'A call that needs approval may not have a NUL character in its context.',
  );
}

type Refusal = RedemptionResult & { readonly redeemed: false };

/** Why an approval, as it stands now, is not good for that call; undefined: nothing speaks against it. */
export function refusalOf(approval: Approval | undefined, redemption: Redemption): Refusal | undefined {
  if (approval === undefined) return { redeemed: false, why: 'unknown' };
  if (!isSameCall(approval, redemption)) return { redeemed: false, why: 'other_call' };
  const { status } = approval;
  if (status === 'used' || status === 'rejected' || status === 'expired')
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

function approvalOf(row: Row): Approval {
  const { createdAt, expiresAt, decidedBy, decidedAt, comment, would, ...same } = row;
  return {
    ...same,
    createdAt: createdAt.getTime(),
    expiresAt: expiresAt.getTime(),
    ...(decidedBy !== null && { decidedBy }),
    ...(decidedAt !== null && { decidedAt: decidedAt.getTime() }),
    ...(comment !== null && { comment }),
    ...(would !== null && { would }),
  };
}
