// DatabaseCallStore: CallStore on PostgreSQL. What many calls ask for at once goes there as one statement.
import { setTimeout as pause } from 'node:timers/promises';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { CallStore } from '../../ports/calls/call-store.ts';
import {
  claimCalls,
  finishCalls,
  giveCallBack,
  reclaimCalls,
  renewClaims,
  sweepCalls,
} from './call-claims.ts';
import {
  appendCallEvents,
  approvalShown,
  callEvents,
  cancelCall,
  getCall,
  lastCallEvent,
  queueState,
  retryCall,
} from './call-operations.ts';
import { insertCalls, type Acceptance } from './call-rows.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import type { Database } from '../postgres/database.ts';
import { GroupCommit } from '../postgres/group-commit.ts';

const MAX_GROUP = 64;
/** Characters of one statement's arguments or results, unless a single one is larger. */
const MAX_GROUP_CHARS = 8 << 20;
const GATHER_MS = 2;
const FULL_RETRY_AFTER_MS = 5_000;

const gather = () => pause(GATHER_MS);

export function databaseCallStore({ db }: Pick<Database, 'db'>, maxWaitMs: number): CallStore {
  const accepting = new GroupCommit((group: readonly Acceptance[]) => acceptCalls(db, group), {
    maxItems: MAX_GROUP,
    maxWeight: MAX_GROUP_CHARS,
    gather,
    weigh: ({ call }) => call.request.length,
  });
  const finishing = new GroupCommit((group: Parameters<typeof finishCalls>[1]) => finishCalls(db, group), {
    maxItems: MAX_GROUP,
    maxWeight: MAX_GROUP_CHARS,
    gather,
    weigh: ({ end }) => end.envelope.length,
  });
  return {
    accept: (call, maxQueued, claim) =>
      withDatabase(async () => {
        if (!(await accepting.run({ call, maxQueued, claim }))) throw queueFull();
      }),
    claim: (owner, leaseMs, limit) => withDatabase(() => claimCalls(db, owner, leaseMs, limit)),
    reclaim: (owner, leaseMs) => withDatabase(() => reclaimCalls(db, owner, leaseMs)),
    renew: (claims, leaseMs) => withDatabase(() => renewClaims(db, claims, leaseMs)),
    finish: (claim, end) => withDatabase(() => finishing.run({ claim, end })),
    giveBack: (claim, delayMs) => withDatabase(() => giveCallBack(db, claim, delayMs)),
    sweep: (maxRuns) => withDatabase(() => sweepCalls(db, maxRuns)),
    get: (tenantId, id) => withDatabase(() => getCall(db, tenantId, id)),
    cancel: (tenantId, id) => withDatabase(() => cancelCall(db, tenantId, id)),
    approvalShown: (tenantId, id) => withDatabase(() => approvalShown(db, tenantId, id)),
    retry: (tenantId, id, again) => withDatabase(() => retryCall(db, { tenantId, id, maxWaitMs, ...again })),
    appendEvents: (id, events) => withDatabase(() => appendCallEvents(db, id, events)),
    lastEvent: (id) => withDatabase(() => lastCallEvent(db, id)),
    events: (id, afterSeq, limit) => withDatabase(() => callEvents(db, id, afterSeq, limit)),
    state: () => withDatabase(() => queueState(db)),
  };
}

/** False for each that its tenant has no capacity for. */
async function acceptCalls(db: Database['db'], group: readonly Acceptance[]): Promise<readonly boolean[]> {
  const accepted = await insertCalls(db, group);
  return group.map(({ call }) => accepted.has(call.id));
}

function queueFull(): ToolFailure {
  return toolFailure('ASYNC_QUEUE_FULL', 'Too many calls of this tenant wait to be run already.', {
    retryAfterMs: FULL_RETRY_AFTER_MS,
  });
}
