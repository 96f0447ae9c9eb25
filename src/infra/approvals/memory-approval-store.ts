// MemoryApprovalStore: approvals of one process. Each step is one synchronous move, so no two can interleave.
import { toolFailure } from '../../contract/call/failure.ts';
import type {
  Approval,
  ApprovalDecision as Decision,
  ApprovalStatus,
  ApprovalStore,
  NewApproval,
  Redemption,
  RedemptionResult,
} from '../../ports/approval-store.ts';
import type { Clock } from '../../ports/clock.ts';

export interface MemoryApprovalOptions {
  /** Undecided at once, all tenants together. */
  readonly maxPending?: number;
  /** Undecided at once of one tenant, so that none can take all the room. */
  readonly maxPendingPerTenant?: number;
  /** Arguments kept at once, in bytes of JSON, those of ended approvals included. */
  readonly maxBytes?: number;
  readonly maxBytesPerTenant?: number;
  /** How long an approval can still be looked up after it expired. */
  readonly keepExpiredMs?: number;
}

interface Entry {
  approval: Approval;
  readonly tokenHash: string;
  readonly bytes: number;
}

interface Tenant {
  /** By approval id, oldest first. */
  readonly entries: Map<string, Entry>;
  pending: number;
  bytes: number;
}

type DecisionResult = { outcome: 'decided' | 'conflict' | 'expired'; approval: Approval };

export class MemoryApprovalStore implements ApprovalStore {
  readonly #clock: Clock;
  readonly #limits: Required<MemoryApprovalOptions>;
  readonly #tenants = new Map<string, Tenant>();
  /** By the hash of the token: how far a wrong token matches a right one cannot be timed. */
  readonly #byToken = new Map<string, Entry>();
  #pending = 0;
  #bytes = 0;

  constructor(clock: Clock, options: MemoryApprovalOptions = {}) {
    this.#clock = clock;
    this.#limits = {
      maxPending: 10_000,
      maxPendingPerTenant: 2_000,
      maxBytes: 64 * 1024 * 1024,
      maxBytesPerTenant: 16 * 1024 * 1024,
      keepExpiredMs: 3_600_000,
      ...options,
    };
  }

  async create({ tokenHash, ...fields }: NewApproval): Promise<Approval> {
    const { id, tenantId } = fields;
    const tenant = this.#tenants.get(tenantId) ?? { entries: new Map<string, Entry>(), pending: 0, bytes: 0 };
    if (tenant.entries.has(id) || this.#byToken.has(tokenHash)) {
      throw new Error(`approval "${id}" exists already, or its token does`);
    }
    const bytes = Buffer.byteLength(JSON.stringify(fields.arguments));
    this.#checkRoom(tenant, bytes);
    const entry: Entry = { approval: { ...fields, status: 'pending' }, tokenHash, bytes };
    this.#tenants.set(tenantId, tenant);
    tenant.entries.set(id, entry);
    tenant.pending += 1;
    tenant.bytes += bytes;
    this.#byToken.set(tokenHash, entry);
    this.#pending += 1;
    this.#bytes += bytes;
    this.#clock.after(fields.expiresAt - this.#clock.wall(), () => this.#expire(entry, tenant));
    return entry.approval;
  }

  async get(tenantId: string, id: string): Promise<Approval | undefined> {
    const entry = this.#find(tenantId, id);
    return entry && this.#view(entry);
  }

  async list(
    tenantId: string,
    { status, limit }: { status?: ApprovalStatus; limit: number },
  ): Promise<readonly Approval[]> {
    const found: Approval[] = [];
    for (const entry of this.#tenants.get(tenantId)?.entries.values() ?? []) {
      const approval = this.#view(entry);
      if (status === undefined || approval.status === status) found.push(approval);
    }
    return found
      .toReversed()
      .sort((one, other) => other.createdAt - one.createdAt)
      .slice(0, Math.max(0, limit));
  }

  async decide(tenantId: string, id: string, decision: Decision): Promise<DecisionResult | undefined> {
    const entry = this.#find(tenantId, id);
    if (entry === undefined) return undefined;
    const { status, decidedAt } = entry.approval;
    if (decidedAt !== undefined) {
      const same = decision.approve === (status !== 'rejected');
      return { outcome: same ? 'decided' : 'conflict', approval: this.#view(entry) };
    }
    const seen = this.#view(entry);
    if (seen.status === 'expired') return { outcome: 'expired', approval: seen };
    this.#noLongerPending(entry, this.#tenants.get(tenantId));
    entry.approval = {
      ...entry.approval,
      status: decision.approve ? 'approved' : 'rejected',
      decidedBy: decision.by,
      decidedAt: this.#clock.wall(),
      ...(decision.comment !== undefined && { comment: decision.comment }),
    };
    return { outcome: 'decided', approval: entry.approval };
  }

  async redeem(redemption: Redemption): Promise<RedemptionResult> {
    const entry = this.#byToken.get(redemption.tokenHash);
    if (entry === undefined || entry.approval.tenantId !== redemption.tenantId) {
      return { redeemed: false, why: 'unknown' };
    }
    if (!isSameCall(entry.approval, redemption)) return { redeemed: false, why: 'other_call' };
    const approval = this.#view(entry);
    const { status } = approval;
    if (status === 'used' || status === 'rejected' || status === 'expired') {
      return { redeemed: false, why: status, approval };
    }
    if (approval.toolHash !== redemption.toolHash) return { redeemed: false, why: 'tool_changed', approval };
    if (status === 'pending') return { redeemed: false, why: 'pending', approval };
    entry.approval = { ...entry.approval, status: 'used' };
    return { redeemed: true, approval: entry.approval };
  }

  #checkRoom(tenant: Tenant, bytes: number): void {
    const { maxPending, maxPendingPerTenant, maxBytes, maxBytesPerTenant } = this.#limits;
    const full =
      this.#pending >= maxPending ||
      tenant.pending >= maxPendingPerTenant ||
      this.#bytes + bytes > maxBytes ||
      tenant.bytes + bytes > maxBytesPerTenant;
    if (!full) return;
    throw toolFailure('APPROVALS_FULL', 'Too many calls wait for approval: have some of them decided first.');
  }

  #find(tenantId: string, id: string): Entry | undefined {
    return this.#tenants.get(tenantId)?.entries.get(id);
  }

  /** As it stands now: what nobody used in time is expired, whether or not its timer has run. */
  #view({ approval }: Entry): Approval {
    const usable = approval.status === 'pending' || approval.status === 'approved';
    return usable && this.#clock.wall() >= approval.expiresAt ? { ...approval, status: 'expired' } : approval;
  }

  /** Ends the wait for a decision, and some time later drops the entry, however it ended. */
  #expire(entry: Entry, tenant: Tenant): void {
    this.#noLongerPending(entry, tenant);
    entry.approval = this.#view(entry);
    this.#clock.after(this.#limits.keepExpiredMs, () => this.#drop(entry, tenant));
  }

  #noLongerPending(entry: Entry, tenant: Tenant | undefined): void {
    if (entry.approval.status !== 'pending' || tenant === undefined) return;
    tenant.pending -= 1;
    this.#pending -= 1;
  }

  #drop(entry: Entry, tenant: Tenant): void {
    const { id, tenantId } = entry.approval;
    this.#byToken.delete(entry.tokenHash);
    this.#bytes -= entry.bytes;
    tenant.bytes -= entry.bytes;
    tenant.entries.delete(id);
    if (tenant.entries.size === 0) this.#tenants.delete(tenantId);
  }
}

/** Who asks for what: the tool's definition is compared apart, to be able to say that only it has changed. */
function isSameCall(approval: Approval, redemption: Redemption): boolean {
  return (
    approval.tool === redemption.tool &&
    approval.argumentsHash === redemption.argumentsHash &&
    approval.requestedBy === redemption.requestedBy &&
    approval.agentId === redemption.agentId &&
    approval.userId === redemption.userId
  );
}
