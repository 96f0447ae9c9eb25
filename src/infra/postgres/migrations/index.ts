// The migrations, in order. A name is for ever: what is released is never changed, only followed by another.
import type { Migration } from 'kysely/migration';
import { calls } from './0001-calls.ts';
import { audit } from './0002-audit.ts';
import { approvals } from './0003-approvals.ts';
import { async } from './0004-async.ts';
import { idempotency } from './0005-idempotency.ts';
import { schedules } from './0006-schedules.ts';
import { toolSpecs } from './0007-tool-specs.ts';
import { fewerIndexEntries } from './0008-fewer-index-entries.ts';
import { peopleAndCallers } from './0009-people-and-callers.ts';
import { gateways } from './0010-gateways.ts';
import { apiKeys } from './0011-api-keys.ts';
import { auditTrail } from './audit/0012-audit-trail.ts';
import { keysOfSeveralTenants } from './0015-keys-of-several-tenants.ts';
import { agents } from './0017-agents.ts';
import { sessions } from './0019-sessions.ts';
import { approvers } from './0021-approvers.ts';
import { toolAssignments } from './tools/0023-tool-assignments.ts';
import { tasks } from './tools/0034-tasks.ts';
import { toldSchedules } from './tools/0035-told-schedules.ts';
import { waitingCalls } from './approvals/0027-waiting-calls.ts';
import { wordToApprovers } from './approvals/0027-word-to-approvers.ts';
import { voteDelegations } from './approvals/0027-x-vote-delegations.ts';
import { delegationTokens } from './approvals/0032-delegation-tokens.ts';
import { auditAppendOnly } from './audit/0029-audit-append-only.ts';
import { auditDays } from './audit/0031-audit-days.ts';
import { oauth } from './oauth/0030-oauth.ts';
import { oauthFlowsTaken } from './oauth/0032-oauth-flows-taken.ts';

export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-calls': calls,
  '0002-audit': audit,
  '0003-approvals': approvals,
  '0004-async': async,
  '0005-idempotency': idempotency,
  '0006-schedules': schedules,
  '0007-tool-specs': toolSpecs,
  '0008-fewer-index-entries': fewerIndexEntries,
  '0009-people-and-callers': peopleAndCallers,
  '0010-gateways': gateways,
  '0011-api-keys': apiKeys,
  '0012-audit-trail': auditTrail,
  '0015-keys-of-several-tenants': keysOfSeveralTenants,
  '0017-agents': agents,
  '0019-sessions': sessions,
  '0021-approvers': approvers,
  '0023-tool-assignments': toolAssignments,
  '0027-waiting-calls': waitingCalls,
  '0027-word-to-approvers': wordToApprovers,
  '0027-x-vote-delegations': voteDelegations,
  '0029-audit-append-only': auditAppendOnly,
  '0030-oauth': oauth,
  '0031-audit-days': auditDays,
  '0032-delegation-tokens': delegationTokens,
  '0032-oauth-flows-taken': oauthFlowsTaken,
  '0034-tasks': tasks,
  '0035-told-schedules': toldSchedules,
};
