// What a decision makes of an approval as it stands now: one state machine for every store.
import { isSamePerson } from '../../lib/callers/same-person.ts';
import type {
  Approval,
  ApprovalDecision,
  ApprovalVote,
  DecisionResult,
} from '../../ports/approvals/approval-store.ts';

/** `changed`: what is to be written. Its `decidedAt` is the store's own time, where it is decided. */
export interface Applied extends DecisionResult {
  readonly changed: boolean;
}

export function applyDecision(approval: Approval, decision: ApprovalDecision): Applied {
  const { status, quorum, votes } = approval;
  const { approve, by, comment } = decision;
  if (status === 'expired' && approval.decidedBy === undefined)
    return { outcome: 'expired', approval, changed: false };
  if (status !== 'pending') {
    const isSame = status !== 'cancelled' && approve === approval.votes.length >= quorum;
    return { outcome: isSame ? 'decided' : 'conflict', approval, changed: false };
  }
  const said = { decidedBy: by, ...(comment !== undefined && { comment }) };
  if (!approve)
    return { outcome: 'decided', approval: { ...approval, ...said, status: 'rejected' }, changed: true };
  if (votes.some((vote) => isSameVoter(vote, decision)))
    return { outcome: 'voted', approval, changed: false };
  const all = [...votes, voteOf(decision)];
  if (all.length < quorum) return { outcome: 'voted', approval: { ...approval, votes: all }, changed: true };
  const decided = { ...approval, ...said, votes: all, status: 'approved' } as const;
  return { outcome: 'decided', approval: decided, changed: true };
}

function voteOf({ by, byUser, forUser, comment }: ApprovalDecision): ApprovalVote {
  const whose = {
    ...(byUser !== undefined && { user: byUser }),
    ...(forUser !== undefined && { for: forUser }),
  };
  return { by, ...whose, ...(comment !== undefined && { comment }) };
}

/** A person may have many keys; and a vote that is given for another is given by both. */
function isSameVoter(vote: ApprovalVote, { by, byUser, forUser }: ApprovalDecision): boolean {
  const people = [byUser, forUser];
  return (
    vote.by === by || people.some((name) => isSamePerson(vote.user, name) || isSamePerson(vote.for, name))
  );
}
