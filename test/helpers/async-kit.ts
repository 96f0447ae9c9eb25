// What tests of asynchronous calls share: a call to accept, an end to write, and time that passes for a lease.
import { sql } from 'kysely';
import type { Database } from '../../src/infra/postgres/database.ts';
import type {
  CallEnd,
  CallStore,
  ClaimedCall,
  NewCall,
  StoredCall,
} from '../../src/ports/calls/call-store.ts';
import { uuidv7 } from '../../src/lib/ids.ts';

export const ACME = 'acme';
export const DAY_MS = 86_400_000;

export function newCall(over: Partial<NewCall> = {}): NewCall {
  return {
    id: uuidv7(Date.now()),
    kind: 'async',
    tenantId: ACME,
    principalId: 'key00001',
    agentId: '',
    userId: '',
    sessionId: '',
    door: 'rest',
    tool: 'echo',
    toolVersion: '1.0.0',
    executor: 'javascript',
    argumentsHash: '',
    readOnly: false,
    idempotent: true,
    registryVersion: '1.0.00000000',
    traceId: '',
    request: '{"tool":"echo"}',
    priority: 'normal',
    maxWaitMs: DAY_MS,
    ...over,
  };
}

/** A row, of a call that waits unless `over` says more. */
export function storedCall(over: Partial<StoredCall> = {}): StoredCall {
  return {
    ...newCall(),
    status: 'queued',
    partialSideEffects: false,
    errorType: null,
    reason: null,
    runs: 0,
    claim: 0,
    durationMs: null,
    cancelRequested: false,
    scheduleId: null,
    createdAt: new Date(0),
    startedAt: null,
    finishedAt: null,
    ...over,
  };
}

export function endAs(status: CallEnd['status'], envelope = '{"ok":true}'): CallEnd {
  const failed = status !== 'succeeded';
  return {
    status,
    errorType: failed ? 'PERMANENT' : null,
    reason: failed ? 'PERMANENT' : null,
    partialSideEffects: false,
    durationMs: 1,
    toolVersion: '1.0.0',
    traceId: '',
    envelope,
  };
}

/** As if every lease had ended a moment ago. */
export async function leasesEnd({ db }: Database): Promise<void> {
  await sql`UPDATE calls SET lease_expires_at = now() - interval '1 second' WHERE status = 'running'`.execute(
    db,
  );
}

export async function forgetCalls({ db }: Database): Promise<void> {
  await sql`DELETE FROM calls`.execute(db);
}

export const LEASE_MS = 30_000;

/** Claims whatever waits, and gives the one of this id. */
export async function claimOf(
  store: Pick<CallStore, 'claim'>,
  id: string,
  owner = 'a',
): Promise<ClaimedCall | undefined> {
  return (await store.claim(owner, LEASE_MS, 500)).find((call) => call.id === id);
}

/** Ids of calls that wait and may run now, first to be run first. */
export async function waitingIds({ db }: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM calls WHERE status = 'queued' AND kind <> 'sync' AND (not_before IS NULL OR not_before <= now())
      AND deadline_at > now() ORDER BY queue_rank, created_at, id`.execute(db);
  return rows.map(({ id }) => id);
}
