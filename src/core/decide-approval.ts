// Decides an approval: who may, and what the second decision meets. Used by every door that takes decisions.
import { holds, type Principal } from '../contract/principal.ts';
import { ToolFailure } from '../contract/tool-failure.ts';
import type { Approval, ApprovalStore } from '../ports/approval-store.ts';

export interface Decision {
  readonly approve: boolean;
  readonly comment?: string;
}

/** Throws ToolFailure PERMISSION_DENIED, NOT_FOUND or CONFLICT. */
export async function decideApproval(
  approvals: ApprovalStore,
  approver: Principal,
  id: string,
  decision: Decision,
  allowSelfApproval: boolean,
): Promise<Approval> {
  if (!holds(approver, 'approvals:decide')) {
    throw new ToolFailure('PERMISSION_DENIED', 'Deciding needs the permission approvals:decide.', {
      reason: 'PERMISSION_MISSING',
    });
  }
  const found = await approvals.get(approver.tenantId, id);
  if (found === undefined) throw notFound();
  if (found.requestedBy === approver.id && decision.approve && !allowSelfApproval) {
    throw new ToolFailure('PERMISSION_DENIED', 'Whoever asked for an approval may not give it.', {
      reason: 'SELF_APPROVAL',
    });
  }
  const decided = await approvals.decide(approver.tenantId, id, { ...decision, by: approver.id });
  if (decided === undefined) throw notFound();
  if (decided.outcome === 'decided') return decided.approval;
  const message = `This approval is ${decided.approval.status} already.`;
  throw new ToolFailure('CONFLICT', message, { reason: `APPROVAL_${decided.outcome.toUpperCase()}` });
}

function notFound(): ToolFailure {
  return new ToolFailure('NOT_FOUND', 'There is no approval of this id.', { reason: 'APPROVAL_NOT_FOUND' });
}
