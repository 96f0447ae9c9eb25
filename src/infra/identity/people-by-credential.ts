// PeopleByCredential: ApproverPeople by the keys that name the person, and by the token or certificate that handed the vote on.
import type { Principal } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { isSamePerson } from '../../lib/callers/same-person.ts';
import type { ApproverPeople } from '../../ports/approvals/approver-people.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { ApiKeyAuthenticator } from '../keys/api-key-authenticator.ts';

type Delegation = Parameters<ApproverPeople['now']>[0];

export class PeopleByCredential implements ApproverPeople {
  readonly #authenticator: Pick<Authenticator, 'recall'>;
  readonly #keys: Pick<ApiKeyAuthenticator, 'ofPerson'> | undefined;

  /** `keys`: undefined where nobody shows one. */
  constructor(
    authenticator: Pick<Authenticator, 'recall'>,
    keys: Pick<ApiKeyAuthenticator, 'ofPerson'> | undefined,
  ) {
    this.#authenticator = authenticator;
    this.#keys = keys;
  }

  now(delegation: Delegation): readonly Principal[] {
    const { tenantId, fromUser } = delegation;
    const recalled = this.#recalled(delegation);
    const keys = this.#keys?.ofPerson(tenantId, fromUser) ?? [];
    return isSamePerson(recalled?.userId, fromUser) && recalled !== undefined ? [...keys, recalled] : keys;
  }

  #recalled({ tenantId, createdBy, fromToken }: Delegation): Principal | undefined {
    try {
      const grant = {
        principalId: createdBy,
        tenantId,
        permissions: [],
        ...(fromToken && { token: fromToken }),
      };
      return this.#authenticator.recall(grant);
    } catch (error) {
      if (error instanceof ToolFailure) return undefined;
      throw error;
    }
  }
}
