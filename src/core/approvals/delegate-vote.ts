// Who votes for whom: a member of a group of approvers hands their vote to another person for a while, and takes it back.
import { holds, type Principal } from '../../contract/call/principal.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { isSamePerson } from '../../lib/callers/same-person.ts';
import { uuidv7 } from '../../lib/ids.ts';
import type { Approval } from '../../ports/approvals/approval-store.ts';
import type { ApproverGroups } from '../../ports/approvals/approver-groups.ts';
import type { ApproverPeople } from '../../ports/approvals/approver-people.ts';
import type { Clock } from '../../ports/clock.ts';
import type { VoteDelegation, VoteDelegations } from '../../ports/approvals/vote-delegations.ts';

export interface DelegationWish {
  readonly to: string;
  /** Left out: all groups that the giver is in. */
  readonly groups?: readonly string[] | undefined;
  /** Left out: now. */
  readonly from?: Date | undefined;
  readonly until: Date;
}

export interface DelegationRules {
  readonly delegations: VoteDelegations;
  readonly groups: ApproverGroups;
  readonly people: ApproverPeople;
  readonly clock: Pick<Clock, 'wall'>;
}

const DAY_MS = 86_400_000;
const LONGEST_MS = 92 * DAY_MS;
const MOST_PER_TENANT = 1_000;

/**
 * Only of a membership of one's own: what was handed to somebody cannot be handed on. Throws ToolFailure PERMISSION_DENIED,
 * VALIDATION or UNAVAILABLE.
 */
export async function delegateVote(
  giver: Principal,
  { to, groups: wanted, from, until }: DelegationWish,
  { delegations, groups, clock }: Omit<DelegationRules, 'people'>,
): Promise<VoteDelegation> {
  const { userId } = giver;
  if (userId === undefined)
    throw toolFailure(
      'APPROVER_UNKNOWN',
      'This key names no user, so that nobody can tell whose vote it is.',
    );
  // Nobody is named by what cannot be seen.
  if (!isSamePerson(to, to) || /\p{Cc}/u.test(to))
    throw wrong('/to', 'must name a person in plain characters');
  if (isSamePerson(to, userId)) throw wrong('/to', 'must be another person');
  const now = clock.wall();
  const startsAt = from ?? new Date(now);
  if (until.getTime() <= Math.max(now, startsAt.getTime()))
    throw wrong('/until', 'must be in the future, after /from');
  if (until.getTime() - now > LONGEST_MS) throw wrong('/until', 'must be within 92 days');
  const named = groupsHanded(giver, wanted, groups);
  const made = await delegations.create(
    {
      id: uuidv7(now),
      tenantId: giver.tenantId,
      fromUser: userId,
      fromRoles: [...giver.roles],
      fromToken: tokenOf(giver),
      toUser: to,
      approverGroups: named,
      startsAt,
      endsAt: until,
      createdBy: giver.id,
    },
    MOST_PER_TENANT,
  );
  if (made !== undefined) return made;
  throw toolFailure(
    'APPROVALS_FULL',
    'This tenant has too many delegations: have some of them revoked first.',
  );
}

/** Those that are wanted, or all that the giver is in. */
function groupsHanded(
  giver: Principal,
  wanted: readonly string[] | undefined,
  groups: ApproverGroups,
): readonly string[] {
  const nowhere = wanted?.find((name) => !groups.names.includes(name));
  if (nowhere !== undefined)
    throw wrong(
      '/groups',
      `names "${nowhere}", which is no group of approvers (approvals.groups of gateway.yaml)`,
    );
  const named = wanted ?? groups.names.filter((name) => groups.includes([name], giver));
  const foreign = named.length === 0 ? 'any group' : named.find((name) => !groups.includes([name], giver));
  if (foreign !== undefined)
    throw toolFailure(
      'APPROVER_NOT_IN_GROUP',
      `Only members hand on their vote, and this key is not in ${foreign}.`,
    );
  return named;
}

/** By whoever gave it, or an admin. Throws ToolFailure NOT_FOUND: to others it is not there. */
export async function revokeDelegation(
  by: Principal,
  id: string,
  delegations: VoteDelegations,
): Promise<void> {
  const found = id.includes('\0') ? undefined : await delegations.get(by.tenantId, id);
  const isOwn = found !== undefined && (isSamePerson(found.fromUser, by.userId) || holds(by, 'admin'));
  if (!isOwn) throw toolFailure('DELEGATION_NOT_FOUND', 'There is no delegation of this id.');
  await delegations.revoke(by.tenantId, id, by.id);
}

/**
 * For whom an approver who is in none of the groups may vote about this approval; undefined: for nobody. Neither for whoever
 * asked, nor for whom the call is made; and rather for somebody whose vote is not counted yet.
 */
export async function votesFor(
  approver: Principal,
  { approverGroups, requestedByUser, userId, votes }: Approval,
  { delegations, groups, people }: Omit<DelegationRules, 'clock'>,
): Promise<string | undefined> {
  const inForce = await delegations.list(approver.tenantId, true);
  const usable = inForce.filter((delegation) => {
    const { fromUser, toUser, approverGroups: handed } = delegation;
    if (!isSamePerson(toUser, approver.userId)) return false;
    if (isSamePerson(fromUser, requestedByUser) || isSamePerson(fromUser, userId)) return false;
    const both = handed.filter((name) => approverGroups.includes(name));
    // A vote is that of a person, and of no key: it is theirs to give as long as one of their credentials may decide.
    return people
      .now(delegation)
      .some((member) => holds(member, 'approvals:decide') && groups.includes(both, member));
  });
  const hasVoted = (name: string) =>
    votes.some(({ user, for: whose }) => isSamePerson(user, name) || isSamePerson(whose, name));
  return (usable.find(({ fromUser }) => !hasVoted(fromUser)) ?? usable[0])?.fromUser;
}

function tokenOf({ token, agents, userId }: Principal) {
  return token === undefined
    ? null
    : { groups: token.groups, agents, ...(userId !== undefined && { userId }) };
}

function wrong(pointer: string, message: string) {
  return toolFailure('MALFORMED_CALL', `${pointer} ${message}.`, {
    details: { violations: [{ pointer, message }] },
  });
}
