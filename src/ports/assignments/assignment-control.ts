// AssignmentControl: who may see and change which version of a tool somebody gets, and does so. A tenant's are that tenant's.
import type { Principal } from '../../contract/call/principal.ts';
import type { AssignmentRecord, SubjectKind } from './assignment-store.ts';

export interface AssignmentWho {
  /** Whose. Undefined: those of whoever asks. */
  readonly tenant: string | undefined;
  readonly tool: string;
  readonly kind: SubjectKind;
  readonly subject: string;
}

/**
 * What is changed is in force here when the promise resolves, and on every other replica within five seconds, as long as
 * they can read the database. Rejects with ToolFailure: PERMISSION_DENIED for another tenant, NOT_FOUND, VALIDATION, CONFLICT,
 * UNAVAILABLE.
 */
export interface AssignmentControl {
  list(
    by: Principal,
    query: {
      readonly tenant: string | undefined;
      readonly tool: string | undefined;
      readonly limit: number;
      readonly before: number | undefined;
    },
  ): Promise<readonly AssignmentRecord[]>;
  get(by: Principal, who: AssignmentWho): Promise<AssignmentRecord>;
  /** `version`: a content hash, or what its writer calls it. NOT_FOUND (TOOL_NOT_FOUND, VERSION_GONE) where it cannot run here and now. */
  assign(
    by: Principal,
    who: AssignmentWho,
    what: { readonly version: string; readonly reason: string },
    ifRevision: number | undefined,
  ): Promise<AssignmentRecord>;
  unassign(by: Principal, who: AssignmentWho, ifRevision: number | undefined): Promise<AssignmentRecord>;
}
