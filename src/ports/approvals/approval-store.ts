// ApprovalStore: calls that wait for a human's decision, each bound to its exact arguments.
import type { AskedApproval } from '../../contract/call/approval/asked-approval.ts';

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'expired', 'used', 'cancelled'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export interface Approval extends Omit<AskedApproval, 'tokenHash'> {
  /** `cancelled`: whoever asked does not want the call any more. */
  readonly status: ApprovalStatus;
  readonly decidedBy?: string;
  readonly decidedAt?: number;
  readonly comment?: string;
  /** In their order; the last one decided, once there are enough. */
  readonly votes: readonly ApprovalVote[];
  /** The accepted call that waits for it, and runs by itself once it is given; left out where the caller calls again. */
  readonly callId?: string;
}

/** One approver's yes. */
export interface ApprovalVote {
  readonly by: string;
  /** The person whose credential it is, if it names one. */
  readonly user?: string;
  /** The member of the group whose vote it is, where that is somebody else's. Both have voted then. */
  readonly for?: string;
  readonly comment?: string;
}

export type NewApproval = AskedApproval;

/** What a repeated call shows to use its approval. Everything must be equal to what was approved. */
export interface Redemption {
  readonly tokenHash: string;
  readonly tenantId: string;
  readonly tool: string;
  readonly toolHash: string;
  readonly argumentsHash: string;
  /** Credential id of the caller: must be the one that asked. */
  readonly requestedBy: string;
  readonly agentId: string;
  readonly userId: string;
}

export type RedemptionResult =
  | { readonly redeemed: true; readonly approval: Approval }
  | {
      readonly redeemed: false;
      /** `unknown` also covers another tenant's token: existence is not told. */
      readonly why:
        | 'unknown'
        | 'pending'
        | 'rejected'
        | 'expired'
        | 'used'
        | 'cancelled'
        | 'other_call'
        | 'tool_changed';
      readonly approval?: Approval;
    };

export interface ApprovalDecision {
  readonly approve: boolean;
  /** Credential id. */
  readonly by: string;
  /** The person whose credential it is, if it names one. */
  readonly byUser?: string;
  /** Whose vote it is, where that was handed to them. */
  readonly forUser?: string;
  readonly comment?: string;
}

export interface DecisionResult {
  /** `voted`: more people have to approve it. */
  readonly outcome: 'decided' | 'voted' | 'conflict' | 'expired';
  readonly approval: Approval;
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus | undefined;
  readonly limit: number;
  readonly after?: { readonly at: number; readonly id: string };
}

export interface ApprovalStore {
  /** Throws ToolFailure UNAVAILABLE (reason APPROVALS_FULL) when too many are pending. */
  create(approval: NewApproval): Promise<Approval>;
  get(tenantId: string, id: string): Promise<Approval | undefined>;
  /** Newest first; those that come behind `after`, where it is said. */
  list(tenantId: string, filter: ApprovalFilter): Promise<readonly Approval[]>;
  /**
   * One decision only: the same again is answered with the approval, the opposite with `conflict`. An approval that needs
   * several people stays pending until the last of them, and counts nobody twice. Where a call waits for it, the call is
   * queued, or ended, by the same commit: the approval is `used` then, since it is good for that one call.
   */
  decide(tenantId: string, id: string, decision: ApprovalDecision): Promise<DecisionResult | undefined>;
  /** Uses an approval up, atomically: of two that redeem at once, one wins. */
  redeem(redemption: Redemption): Promise<RedemptionResult>;
}
