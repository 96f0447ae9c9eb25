// ApproverGroups: who may approve what, as the operator has named it.
import type { Principal } from '../../contract/call/principal.ts';

export interface ApproverGroups {
  readonly names: readonly string[];
  /** True if the approver is in one of the groups, as they are now. A name that is no longer there has no members. */
  includes(groups: readonly string[], approver: Principal): boolean;
}
