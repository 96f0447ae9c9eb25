// Decides an approval: who may, and what the second decision meets. Used by every door that takes decisions.
import type { Reason } from '../contract/call/reasons/reasons.ts';
import { holds, type Principal } from '../contract/call/principal.ts';
import { isSamePerson } from '../lib/callers/same-person.ts';
import { toolFailure } from '../contract/call/failure.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { votesFor } from './approvals/delegate-vote.ts';
import type { ApproverPeople } from '../ports/approvals/approver-people.ts';
import type { ApproverGroups } from '../ports/approvals/approver-groups.ts';
import type { Approval, ApprovalStore } from '../ports/approvals/approval-store.ts';
import type { Clock } from '../ports/clock.ts';
import type { VoteDelegations } from '../ports/approvals/vote-delegations.ts';

export interface DecisionRules {
  readonly allowSelfApproval: boolean;
  /** Of these tools nobody approves a call of their own, whatever is allowed else. */
  readonly needsTwoPeople?: (tool: string) => boolean;
  /** A rejection says why. */
  readonly requireReason: boolean;
  readonly groups: ApproverGroups;
  readonly delegations: VoteDelegations;
  readonly people: ApproverPeople;
  readonly clock: Pick<Clock, 'wall'>;
}

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
  rules: DecisionRules,
): Promise<Approval> {
  const { allowSelfApproval, requireReason } = rules;
  if (!holds(approver, 'approvals:decide')) {
    throw toolFailure('PERMISSION_MISSING', 'Deciding needs the permission approvals:decide.');
  }
  const found = await approvals.get(approver.tenantId, id);
  if (found === undefined) throw notFound();
  const forUser = decision.approve ? await checkMember(approver, found, rules) : undefined;
  const isAlone = allowSelfApproval && rules.needsTwoPeople?.(found.tool) !== true;
  if (decision.approve && !isAlone) checkOtherPerson(approver, found);
  if (decision.approve && found.quorum > 1) checkNamed(approver);
  if (!decision.approve && requireReason && !decision.comment?.trim()) throw withoutReason();
  const by = {
    by: approver.id,
    ...(approver.userId !== undefined && { byUser: approver.userId }),
    ...(forUser !== undefined && { forUser }),
  };
  const decided = await approvals.decide(approver.tenantId, id, { ...decision, ...by });
  if (decided === undefined) throw notFound();
  if (decided.outcome === 'decided' || decided.outcome === 'voted') return decided.approval;
  const message = `This approval is ${decided.approval.status} already.`;
  throw new ToolFailure('CONFLICT', message, { reason: NOT_DECIDED[decided.outcome] });
}

const NOT_DECIDED = {
  conflict: 'APPROVAL_CONFLICT',
  expired: 'APPROVAL_EXPIRED',
} as const satisfies Record<string, Reason>;

/**
 * Four eyes are those of two people, and a person may have many keys: neither whose key asked, nor for whom the call is
 * made, approves it; and a key that names nobody could be anybody's. Rejecting is for everybody who may decide.
 */
function checkOtherPerson({ id, userId }: Principal, asked: Approval): void {
  const isSelf =
    asked.requestedBy === id ||
    isSamePerson(userId, asked.requestedByUser) ||
    isSamePerson(userId, asked.userId);
  if (isSelf) {
    throw toolFailure('SELF_APPROVAL', 'Whoever asked for an approval may not give it.');
  }
  checkNamed({ userId });
}

/** Gives for whom they vote who are in none of the groups. */
async function checkMember(
  approver: Principal,
  asked: Approval,
  rules: DecisionRules,
): Promise<string | undefined> {
  const { approverGroups } = asked;
  if (approverGroups.length === 0 || rules.groups.includes(approverGroups, approver)) return undefined;
  const member = await votesFor(approver, asked, rules);
  if (member !== undefined) return member;
  const message = `This call is approved by members of ${approverGroups.join(' or ')}.`;
  throw toolFailure('APPROVER_NOT_IN_GROUP', message, { details: { groups: [...approverGroups] } });
}

/** Two keys that name nobody may be one person's. */
function checkNamed({ userId }: Pick<Principal, 'userId'>): void {
  if (userId !== undefined) return;
  const message =
    'This key names no user, so that nobody can tell whether it is that of whoever asked: approve with a key that has a `user` (auth.keys).';
  throw toolFailure('APPROVER_UNKNOWN', message);
}

function withoutReason(): ToolFailure {
  return toolFailure('REASON_MISSING', '/comment must say why the call is rejected.', {
    details: { violations: [{ pointer: '/comment', message: 'must say why the call is rejected' }] },
  });
}

function notFound(): ToolFailure {
  return toolFailure('APPROVAL_NOT_FOUND', 'There is no approval of this id.');
}
