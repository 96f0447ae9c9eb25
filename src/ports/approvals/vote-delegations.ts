// VoteDelegations: who votes for whom about approvals, and until when. None is ever followed to another one.
import type { TokenGrant } from '../../contract/call/admitted-call.ts';

export interface VoteDelegation {
  readonly id: string;
  readonly tenantId: string;
  /** The member of the groups whose vote it is, and the roles that made them one when it was made. */
  readonly fromUser: string;
  readonly fromRoles: readonly string[];
  /** What their token said then, where it was one. */
  readonly fromToken: TokenGrant | null;
  /** The person who votes instead. */
  readonly toUser: string;
  readonly approverGroups: readonly string[];
  readonly startsAt: Date;
  readonly endsAt: Date;
  /** Credential id. */
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** Every method may throw ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE). All times are the database's own. */
export interface VoteDelegations {
  /** Undefined: the tenant has `most` already that have neither ended nor been revoked. */
  create(made: Omit<VoteDelegation, 'createdAt'>, most: number): Promise<VoteDelegation | undefined>;
  /** Those that have neither ended nor been revoked, newest first. `inForce`: only those that have begun. */
  list(tenantId: string, inForce?: boolean): Promise<readonly VoteDelegation[]>;
  /** Undefined: the tenant has none of this id that could be revoked. */
  get(tenantId: string, id: string): Promise<VoteDelegation | undefined>;
  /** From now on. `by`: credential id. */
  revoke(tenantId: string, id: string, by: string): Promise<void>;
}
