// AskedApproval: what is kept of a call until a human has decided about it.
import type { JsonObject } from '../../json.ts';

export interface AskedApproval {
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
  /** How many people have to approve it. One rejection is enough. */
  readonly quorum: number;
  /** Who may approve it: members of any of these groups; empty: whoever may decide. */
  readonly approverGroups: readonly string[];
  /** What the call would do, as its executor rendered it when it was asked for; secrets and sensitive arguments are masked. */
  readonly would?: JsonObject;
  /** sha256 of the token, hex; the token itself is never stored. */
  readonly tokenHash: string;
}
