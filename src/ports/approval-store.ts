// ApprovalStore: calls that wait for a human's decision, each bound to its exact arguments.
import type { JsonObject } from '../contract/json.ts';

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'expired', 'used'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export interface Approval {
  readonly id: string;
  readonly tenantId: string;
  readonly tool: string;
  readonly toolVersion: string;
  /** Of the tool's definition and all that it runs: a changed tool, connection or code voids the approval. */
  readonly toolHash: string;
  readonly argumentsHash: string;
  /** For the approver's eyes. */
  readonly arguments: JsonObject;
  readonly riskLevel: string;
  /** Credential id of the requester, and for whom it spoke. */
  readonly requestedBy: string;
  /** Whose credential it is; empty where it is nobody's, such as a service's. */
  readonly requestedByUser: string;
  readonly agentId: string;
  readonly userId: string;
  readonly sessionId: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly status: ApprovalStatus;
  readonly decidedBy?: string;
  readonly decidedAt?: number;
  readonly comment?: string;
  /** How many people have to approve it. One rejection is enough. */
  readonly quorum: number;
  /** Who may approve it: members of any of these groups; empty: whoever may decide. */
  readonly approverGroups: readonly string[];
  /** In their order; the last one decided, once there are enough. */
  readonly votes: readonly ApprovalVote[];
  /** What the call would do, as its executor rendered it when it was asked for; secrets and sensitive arguments are masked. */
  readonly would?: JsonObject;
}

/** One approver's yes. */
export interface ApprovalVote {
  readonly by: string;
  /** The person whose credential it is, if it names one. */
  readonly user?: string;
  readonly comment?: string;
}

export type NewApproval = Omit<Approval, 'status' | 'decidedBy' | 'decidedAt' | 'comment' | 'votes'> & {
  /** sha256 of the token, hex; the token itself is never stored. */
  readonly tokenHash: string;
};

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
      readonly why: 'unknown' | 'pending' | 'rejected' | 'expired' | 'used' | 'other_call' | 'tool_changed';
      readonly approval?: Approval;
    };

export interface ApprovalDecision {
  readonly approve: boolean;
  /** Credential id. */
  readonly by: string;
  /** The person whose credential it is, if it names one. */
  readonly byUser?: string;
  readonly comment?: string;
}

export interface DecisionResult {
  /** `voted`: more people have to approve it. */
  readonly outcome: 'decided' | 'voted' | 'conflict' | 'expired';
  readonly approval: Approval;
}

export interface ApprovalStore {
  /** Throws ToolFailure UNAVAILABLE (reason APPROVALS_FULL) when too many are pending. */
  create(approval: NewApproval): Promise<Approval>;
  get(tenantId: string, id: string): Promise<Approval | undefined>;
  /** Newest first. */
  list(tenantId: string, filter: { status?: ApprovalStatus; limit: number }): Promise<readonly Approval[]>;
  /**
   * One decision only: the same again is answered with the approval, the opposite with `conflict`. An approval that needs
   * several people stays pending until the last of them, and counts nobody twice.
   */
  decide(tenantId: string, id: string, decision: ApprovalDecision): Promise<DecisionResult | undefined>;
  /** Uses an approval up, atomically: of two that redeem at once, one wins. */
  redeem(redemption: Redemption): Promise<RedemptionResult>;
}
