// ApproverPeople: who somebody is now that has handed on their vote, by all credentials that are theirs.
import type { Principal } from '../../contract/call/principal.ts';
import type { VoteDelegation } from './vote-delegations.ts';

export interface ApproverPeople {
  /** Of the delegation's tenant, each of whom is that person. None: none of their credentials is good any more. */
  now(
    delegation: Pick<VoteDelegation, 'tenantId' | 'fromUser' | 'fromToken' | 'createdBy'>,
  ): readonly Principal[];
}
