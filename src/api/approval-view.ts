// Approvals as every door serves them: what is shown of one, whether it can still be used, and the decision about it.
import type { AsyncCalls } from '../calls/async-calls.ts';
import { toolFailure } from '../contract/call/failure.ts';
import type { Principal } from '../contract/call/principal.ts';
import { whatRuns } from '../contract/tool/tool-function.ts';
import { decideApproval, type DecisionRules } from '../core/decide-approval.ts';
import { showingHiddenIn } from '../lib/text/hidden-text.ts';
import type { Approval as Kept, ApprovalStore } from '../ports/approvals/approval-store.ts';
import type { ToolCatalog } from '../ports/registry/tool-catalog.ts';
import { Approval } from './rest/approvals/schema.ts';
import { wire } from './rest/route/wire.ts';

export interface ApprovalPorts {
  readonly approvals: ApprovalStore;
  readonly rules: DecisionRules;
  readonly calls: Pick<AsyncCalls, 'decided'>;
  readonly catalog: Pick<ToolCatalog, 'snapshot'>;
}

export interface SaidDecision {
  readonly decision: 'approve' | 'reject';
  readonly comment?: string | undefined;
}

/** Rejects with ToolFailure NOT_FOUND. */
export async function oneApproval({ approvals, catalog }: ApprovalPorts, tenantId: string, id: string) {
  const found = await approvals.get(tenantId, id);
  if (found === undefined) throw toolFailure('APPROVAL_NOT_FOUND', 'There is no approval of this id.');
  return { ...approvalFields(found), tool_changed: await isChanged(found, catalog) };
}

/** A call that waits for it is run, or has ended. Rejects with ToolFailure where the principal may not decide. */
export async function decided(
  { approvals, rules, calls }: ApprovalPorts,
  principal: Principal,
  id: string,
  { decision, comment }: SaidDecision,
) {
  const said = { approve: decision === 'approve', ...(comment !== undefined && { comment }) };
  const found = await decideApproval(approvals, principal, id, said, rules);
  const { callId, status } = found;
  if (callId !== undefined && status !== 'pending') calls.decided(callId);
  return approvalFields(found);
}

/** Whether something else would run now than when it was asked for: such an approval cannot be used any more. */
async function isChanged({ tool, toolHash }: Kept, catalog: Pick<ToolCatalog, 'snapshot'>): Promise<boolean> {
  const snapshot = catalog.snapshot();
  const fn = snapshot.find(tool)?.function;
  // What else the call is about is part of the hash, behind that of the tool.
  return fn === undefined || (await whatRuns(fn, snapshot)) !== toolHash.replace(/[/+].*$/s, '');
}

/** snake_case, as REST sends it. What an approver reads is what is there: a text that turns around or hides a part of itself shows how. */
export function approvalFields(approval: Kept) {
  const {
    decidedBy = null,
    decidedAt,
    comment = null,
    createdAt,
    expiresAt,
    votes,
    would = null,
    callId = null,
  } = approval;
  return showingHiddenIn(
    wire(Approval, {
      ...approval,
      createdAt: new Date(createdAt),
      expiresAt: new Date(expiresAt),
      decidedBy,
      decidedAt: decidedAt === undefined ? null : new Date(decidedAt),
      comment,
      votes: votes.map(({ by, user = null, for: whose = null, comment: said = null }) => ({
        by,
        user,
        for: whose,
        comment: said,
      })),
      would,
      callId,
    }),
  );
}

export type WireApproval = ReturnType<typeof approvalFields>;
