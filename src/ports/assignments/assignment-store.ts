// AssignmentStore: which version of a tool a tenant, an agent or a user gets, in the gateway's own database.

/** The narrowest first: what is assigned to a user comes before what is assigned to an agent, and that before a tenant's. */
export const SUBJECT_KINDS = ['user', 'agent', 'tenant'] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];

export interface AssignmentKey {
  readonly tenantId: string;
  readonly kind: SubjectKind;
  /** What calls name as agent_id or user_id; of a tenant its own name. */
  readonly subject: string;
  /** Of a tool, not of one of its actions. */
  readonly tool: string;
}

export interface Assignment extends AssignmentKey {
  /** The version, exactly: a name such as 1.0.0 may stand for another one later. */
  readonly contentHash: string;
}

export interface AssignmentRecord extends Assignment {
  /** What its writer called the version when it was assigned. */
  readonly version: string;
  readonly reason: string;
  /** Another one after every change, and never the same again, whatever is deleted and made anew. */
  readonly revision: number;
  readonly assignedAt: Date;
  readonly assignedBy: string;
}

export type AssignmentDraft = Omit<AssignmentRecord, 'revision' | 'assignedAt'>;

export interface AssignmentsQuery {
  readonly tenantId: string;
  readonly limit: number;
  /** Only those with a smaller revision. */
  readonly before: number | undefined;
  readonly tool: string | undefined;
  /** Only those of these agents. Undefined: all of the tenant. */
  readonly agents: readonly string[] | undefined;
}

export interface AssignmentsInForce {
  readonly generation: number;
  readonly assignments: readonly Assignment[];
}

export interface AssignmentBounds {
  /** Of the tenant. */
  readonly perTenant: number;
  readonly inAll: number;
}

/** `missing`: it is not there. `conflict`: it is at another revision. `full`: there are as many as there may be. */
export type NotChanged = 'missing' | 'conflict' | 'full';

/** Every method rejects with ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE) while the database is away. */
export interface AssignmentStore {
  /** Grows with every change. */
  generation(): Promise<number>;
  inForce(): Promise<AssignmentsInForce>;
  /** Newest first. */
  list(query: AssignmentsQuery): Promise<readonly AssignmentRecord[]>;
  get(key: AssignmentKey): Promise<AssignmentRecord | undefined>;
  /** `ifRevision`: which one the change is meant for; undefined: whichever is there; 0: it is to be new. */
  put(
    draft: AssignmentDraft,
    bounds: AssignmentBounds,
    ifRevision: number | undefined,
  ): Promise<AssignmentRecord | NotChanged>;
  /** Gives what was there. */
  delete(key: AssignmentKey, ifRevision: number | undefined): Promise<AssignmentRecord | NotChanged>;
}
