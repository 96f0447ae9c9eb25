// Approvals by REST: what waits, and the decision about it.
import { Controller, Inject } from '@nestjs/common';
import { toolFailure } from '../../../contract/call/failure.ts';
import { decideApproval as decide } from '../../../core/decide-approval.ts';
import type { Approval as Kept, ApprovalStore } from '../../../ports/approval-store.ts';
import { showingHiddenIn } from '../../../lib/text/hidden-text.ts';
import { APPROVAL_STORE, DOOR_LIMITS, type DoorLimits } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { decideApproval, getApproval, listApprovals, Approval } from './schema.ts';

@Controller()
export class ApprovalsController {
  constructor(
    @Inject(APPROVAL_STORE) private readonly approvals: ApprovalStore,
    @Inject(DOOR_LIMITS) private readonly limits: DoorLimits,
  ) {}

  @Serves(listApprovals)
  @Requires('approvals:decide')
  async list({ principal, query }: Asked<typeof listApprovals>) {
    const { status, page_size: limit } = query;
    const found = await this.approvals.list(principal.tenantId, { status, limit });
    return { approvals: found.map(wireApproval) };
  }

  @Serves(getApproval)
  @Requires('approvals:decide')
  async get({ principal, params }: Asked<typeof getApproval>) {
    const found = await this.approvals.get(principal.tenantId, params.id);
    if (found !== undefined) return wireApproval(found);
    throw toolFailure('APPROVAL_NOT_FOUND', 'There is no approval of this id.');
  }

  @Serves(decideApproval)
  @Requires('approvals:decide')
  @Recorded('approvals.decide', { recordsItself: true })
  async decide({ principal, params, body }: Asked<typeof decideApproval>) {
    const { decision, comment } = body;
    const said = { approve: decision === 'approve', ...(comment !== undefined && { comment }) };
    const { allowSelfApproval } = this.limits;
    return wireApproval(await decide(this.approvals, principal, params.id, said, allowSelfApproval));
  }
}

/** What an approver reads is what is there: a text that turns around or hides a part of itself shows how. */
function wireApproval(approval: Kept) {
  const { decidedBy = null, decidedAt, comment = null, createdAt, expiresAt } = approval;
  return showingHiddenIn(
    wire(Approval, {
      ...approval,
      createdAt: new Date(createdAt),
      expiresAt: new Date(expiresAt),
      decidedBy,
      decidedAt: decidedAt === undefined ? null : new Date(decidedAt),
      comment,
    }),
  );
}
