// Delegations of votes by REST: hand on, look, take back.
import { Controller, Inject } from '@nestjs/common';
import { delegateVote, revokeDelegation as revoke } from '../../../core/approvals/delegate-vote.ts';
import { DOOR_LIMITS, type DoorLimits } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { createDelegation, Delegation, listDelegations, revokeDelegation } from './delegation-schema.ts';

const idOf = (answer: unknown) => (answer as { readonly id: string }).id;

@Controller()
export class DelegationsController {
  constructor(@Inject(DOOR_LIMITS) private readonly limits: DoorLimits) {}

  @Serves(createDelegation)
  @Requires('approvals:decide')
  @Recorded('approvals.delegate', { targetOf: idOf })
  async create({ principal, body }: Asked<typeof createDelegation>) {
    return wire(Delegation, await delegateVote(principal, body, this.limits.approvals));
  }

  @Serves(listDelegations)
  @Requires('approvals:decide')
  async list({ principal }: Asked<typeof listDelegations>) {
    const found = await this.limits.approvals.delegations.list(principal.tenantId);
    return { delegations: found.map((each) => wire(Delegation, each)) };
  }

  @Serves(revokeDelegation)
  @Requires('approvals:decide')
  @Recorded('approvals.revoke_delegation')
  async revoke({ principal, params }: Asked<typeof revokeDelegation>): Promise<undefined> {
    await revoke(principal, params.id, this.limits.approvals.delegations);
  }
}
