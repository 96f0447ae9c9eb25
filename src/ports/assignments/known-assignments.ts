// KnownAssignments: which versions are assigned to whom, in memory: no call asks the database. Failure policy: what was known stays
// in force, and is told of as degraded.

/** Of one tool and tenant: content hashes. */
export interface ToolAssignments {
  readonly tenant: string | undefined;
  readonly agents: ReadonlyMap<string, string>;
  readonly users: ReadonlyMap<string, string>;
}

export interface KnownAssignments {
  /** Nothing is assigned to anybody. */
  readonly isEmpty: boolean;
  /** By tool. */
  ofTenant(tenantId: string): ReadonlyMap<string, ToolAssignments> | undefined;
}
