// MemoryApprovals: an ApprovalStore for specs that need no database, held to the suite of the port like the one in SQL.
import { applyDecision } from '../../src/infra/approvals/apply-decision.ts';
import { refusalOf } from '../../src/infra/approvals/sql-approval-store.ts';
import type {
  Approval,
  ApprovalDecision,
  ApprovalFilter,
  ApprovalStore,
  DecisionResult,
  NewApproval,
  Redemption,
  RedemptionResult,
} from '../../src/ports/approvals/approval-store.ts';
import type { Clock } from '../../src/ports/clock.ts';

interface Kept {
  approval: Approval;
  readonly tokenHash: string;
}

export class MemoryApprovals implements ApprovalStore {
  readonly #clock: Clock;
  readonly #kept: Kept[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async create({ tokenHash, ...asked }: NewApproval): Promise<Approval> {
    const approval: Approval = { ...asked, votes: [], status: 'pending' };
    this.#kept.unshift({ approval, tokenHash });
    return approval;
  }

  async get(tenantId: string, id: string): Promise<Approval | undefined> {
    const found = this.#find(tenantId, id);
    return found && this.#seen(found);
  }

  async list(tenantId: string, { status, limit, after }: ApprovalFilter) {
    return this.#kept
      .map((kept) => this.#seen(kept))
      .filter((each) => each.tenantId === tenantId && (status === undefined || each.status === status))
      .toSorted((one, other) => other.createdAt - one.createdAt || (other.id < one.id ? -1 : 1))
      .filter(({ createdAt, id }) => {
        if (after === undefined) return true;
        return createdAt < after.at || (createdAt === after.at && id < after.id);
      })
      .slice(0, Math.max(0, limit));
  }

  async decide(
    tenantId: string,
    id: string,
    decision: ApprovalDecision,
  ): Promise<DecisionResult | undefined> {
    const found = this.#find(tenantId, id);
    if (found === undefined) return undefined;
    const { outcome, approval, changed } = applyDecision(this.#seen(found), decision);
    if (changed && approval.decidedBy !== undefined)
      found.approval = { ...approval, decidedAt: this.#clock.wall() };
    else if (changed) found.approval = approval;
    return { outcome, approval: changed ? found.approval : approval };
  }

  async redeem(redemption: Redemption): Promise<RedemptionResult> {
    const { tokenHash, tenantId } = redemption;
    const found = this.#kept.find(
      (kept) => kept.tokenHash === tokenHash && kept.approval.tenantId === tenantId,
    );
    const refusal = refusalOf(found && this.#seen(found), redemption);
    if (refusal !== undefined || found === undefined) return refusal ?? { redeemed: false, why: 'unknown' };
    found.approval = { ...found.approval, status: 'used' };
    return { redeemed: true, approval: found.approval };
  }

  #find(tenantId: string, id: string): Kept | undefined {
    return this.#kept.find(({ approval }) => approval.tenantId === tenantId && approval.id === id);
  }

  #seen({ approval }: Kept): Approval {
    const usable = approval.status === 'pending' || approval.status === 'approved';
    return usable && this.#clock.wall() >= approval.expiresAt ? { ...approval, status: 'expired' } : approval;
  }
}
