// DatabaseCallStore: CallStore on PostgreSQL or PGlite. What many calls ask for at once goes there as one statement.
import { sql } from 'kysely';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { CallStore, NewCall, WaitingCall } from '../../ports/call-store.ts';
import { claimCalls, finishCalls, giveCallBack, renewClaims, sweepCalls } from './call-claims.ts';
import {
  appendCallEvents,
  callEvents,
  cancelCall,
  getCall,
  lastCallEvent,
  queueState,
  retryCall,
} from './call-operations.ts';
import { insertCalls, rankOf } from './call-rows.ts';
import { withDatabase } from './database-failures.ts';
import type { Database } from './database.ts';
import { GroupCommit } from './group-commit.ts';

const MAX_GROUP = 64;
/** Characters of one statement's arguments or results, unless a single one is larger. */
const MAX_GROUP_CHARS = 8 << 20;
const FULL_RETRY_AFTER_MS = 5_000;

interface Acceptance {
  readonly call: NewCall;
  readonly maxQueued: number;
}

export function databaseCallStore({ db }: Database, maxWaitMs: number): CallStore {
  const accepting = new GroupCommit<Acceptance, WaitingCall | undefined>((group) => acceptCalls(db, group), {
    maxItems: MAX_GROUP,
    maxWeight: MAX_GROUP_CHARS,
    weigh: ({ call }) => call.request.length,
  });
  const claiming = new GroupCommit((group: Parameters<typeof claimCalls>[1]) => claimCalls(db, group), {
    maxItems: MAX_GROUP,
  });
  const finishing = new GroupCommit((group: Parameters<typeof finishCalls>[1]) => finishCalls(db, group), {
    maxItems: MAX_GROUP,
    maxWeight: MAX_GROUP_CHARS,
    weigh: ({ end }) => end.envelope.length,
  });
  return {
    accept: (call, maxQueued) =>
      withDatabase(async () => (await accepting.run({ call, maxQueued })) ?? Promise.reject(queueFull())),
    claim: (id, owner, leaseMs) => withDatabase(() => claiming.run({ id, owner, leaseMs })),
    renew: (claims, leaseMs) => withDatabase(() => renewClaims(db, claims, leaseMs)),
    finish: (claim, end) => withDatabase(() => finishing.run({ claim, end })),
    giveBack: (claim, delayMs) => withDatabase(() => giveCallBack(db, claim, delayMs)),
    sweep: (maxRuns) => withDatabase(() => sweepCalls(db, maxRuns)),
    waiting: (limit) => withDatabase(() => waitingCalls(db, limit)),
    get: (tenantId, id) => withDatabase(() => getCall(db, tenantId, id)),
    cancel: (tenantId, id) => withDatabase(() => cancelCall(db, tenantId, id)),
    retry: (tenantId, id, force) => withDatabase(() => retryCall(db, { tenantId, id, force, maxWaitMs })),
    appendEvents: (id, events) => withDatabase(() => appendCallEvents(db, id, events)),
    lastEvent: (id) => withDatabase(() => lastCallEvent(db, id)),
    events: (id, afterSeq, limit) => withDatabase(() => callEvents(db, id, afterSeq, limit)),
    state: () => withDatabase(() => queueState(db)),
  };
}

/** Undefined for each that its tenant has no room for. */
async function acceptCalls(
  db: Database['db'],
  group: readonly Acceptance[],
): Promise<readonly (WaitingCall | undefined)[]> {
  const waiting = await countWaiting(db, group);
  const placed = group.map(({ call, maxQueued }) => {
    const ahead = waiting.get(call.tenantId) ?? 0;
    if (ahead >= maxQueued) return undefined;
    waiting.set(call.tenantId, ahead + 1);
    return { call, rank: rankOf(call, ahead) };
  });
  const rows = placed.filter((each) => each !== undefined);
  const write = (within: Database['db']) => insertCalls(within, rows);
  if (rows.some(({ call }) => call.callbackUrl !== undefined)) await db.transaction().execute(write);
  else await write(db);
  return placed.map((each) => each && { id: each.call.id, rank: each.rank, claim: 0 });
}

async function countWaiting(db: Database['db'], group: readonly Acceptance[]): Promise<Map<string, number>> {
  const tenants = [...new Set(group.map(({ call }) => call.tenantId))];
  const { rows } = await sql<{ tenant_id: string; waiting: number }>`
    SELECT tenant_id, count(*) AS waiting FROM calls
    WHERE status = 'queued' AND kind <> 'sync' AND tenant_id = ANY(${tenants}::text[]) GROUP BY tenant_id`.execute(
    db,
  );
  return new Map(rows.map((row) => [row.tenant_id, row.waiting]));
}

async function waitingCalls(db: Database['db'], limit: number): Promise<readonly WaitingCall[]> {
  const { rows } = await sql<WaitingCall>`
    SELECT id, queue_rank AS rank, claim FROM calls
    WHERE status = 'queued' AND kind <> 'sync' AND (not_before IS NULL OR not_before <= now())
      AND (deadline_at IS NULL OR deadline_at > now())
    ORDER BY queue_rank, created_at, id LIMIT ${limit}`.execute(db);
  return rows;
}

function queueFull(): ToolFailure {
  return new ToolFailure('CONCURRENCY_LIMIT', 'Too many calls of this tenant wait to be run already.', {
    reason: 'ASYNC_QUEUE_FULL',
    retryAfterMs: FULL_RETRY_AFTER_MS,
  });
}
