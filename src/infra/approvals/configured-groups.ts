// ConfiguredGroups: groups of approvers as gateway.yaml names them, by role and by user.
import type { Principal } from '../../contract/call/principal.ts';
import { isSamePerson } from '../../lib/callers/same-person.ts';
import type { ApproverGroups } from '../../ports/approvals/approver-groups.ts';

interface Members {
  readonly roles: readonly string[];
  readonly users: readonly string[];
}

export class ConfiguredGroups implements ApproverGroups {
  readonly #groups: ReadonlyMap<string, Members>;

  constructor(groups: Readonly<Record<string, Members>>) {
    this.#groups = new Map(Object.entries(groups));
  }

  get names(): readonly string[] {
    return [...this.#groups.keys()];
  }

  includes(groups: readonly string[], { roles, userId }: Principal): boolean {
    return groups.some((name) => {
      const members = this.#groups.get(name);
      if (members === undefined) return false;
      return (
        members.roles.some((role) => roles.includes(role)) ||
        members.users.some((user) => isSamePerson(user, userId))
      );
    });
  }
}
