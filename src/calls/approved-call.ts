// What runs of a call that waited for its approval, held to what was approved: whoever can write to the rows of calls could put other
// arguments, another caller or another tool in their place meanwhile.
import { toolFailure } from '../contract/call/failure.ts';
import type { ToolFailure } from '../contract/call/tool-failure.ts';
import type { AdmittedCall } from '../contract/call/admitted-call.ts';
import { canonicalHash } from '../lib/json/canonical-json.ts';
import type { ApprovalGiven, ClaimedCall } from '../ports/calls/call-store.ts';

/** Undefined: it is what was approved, or waited for nobody. */
export function notApproved(
  { tenantId, approval }: Pick<ClaimedCall, 'tenantId' | 'approval'>,
  admitted: AdmittedCall,
): ToolFailure | undefined {
  if (approval === undefined || approval === null) return undefined;
  const isSame = admitted.grant.tenantId === tenantId && isApproved(approval, admitted);
  if (isSame) return undefined;
  return toolFailure(
    'APPROVED_CALL_CHANGED',
    'What is kept of this call is not what was approved: it was changed since, and has not been run. Make the call again.',
    { partialSideEffects: false },
  );
}

function isApproved(
  approval: ApprovalGiven,
  { tool, arguments: args, context, runs, grant }: AdmittedCall,
): boolean {
  const { agentId = '', userId = '' } = context;
  const isSameCall =
    approval.isDecided &&
    approval.tool === tool &&
    approval.agentId === agentId &&
    approval.userId === userId &&
    approval.argumentsHash === canonicalHash(args);
  if (!isSameCall || !approval.isFirst) return isSameCall;
  return approval.requestedBy === grant.principalId && approval.toolHash === runs;
}
