// The rows of calls that run later: how one is written, and how it is read again.
import { sql, type InsertObject, type Kysely, type Selectable } from 'kysely';
import { uuidv7 } from '../../lib/ids.ts';
import type { NewCall, StoredCall } from '../../ports/call-store.ts';
import type { CallsTable, Tables } from './tables.ts';

/** Of the priorities, each has so many ranks; those of a tenant count up from its class's first. */
const RANKS = 600_000;
const CLASS = { high: 0, normal: 1, low: 2 } as const;

/**
 * Tenants take turns: the n-th waiting call of one has the rank of the n-th of any other. `ahead` counts those of the
 * tenant that wait already.
 */
export function rankOf({ priority }: NewCall, ahead: number): number {
  return CLASS[priority] * RANKS + Math.min(ahead, RANKS - 1) + 1;
}

/**
 * Writes accepted calls, in a transaction of whoever calls it, too: a call and what made it are committed together. The
 * queue finds the rows by itself; to have them run at once, offer them to it after the commit.
 */
export async function insertCalls(
  db: Kysely<Tables>,
  calls: readonly { readonly call: NewCall; readonly rank: number }[],
): Promise<void> {
  if (calls.length === 0) return;
  const written = await db
    .insertInto('calls')
    .values(calls.map(({ call, rank }) => rowOf(call, rank)))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  const ids = new Set(written.map(({ id }) => id));
  const webhooks = calls.flatMap(({ call }) => (ids.has(call.id) ? webhookOf(call) : []));
  if (webhooks.length > 0) await db.insertInto('webhooks').values(webhooks).execute();
}

function rowOf(call: NewCall, rank: number): InsertObject<Tables, 'calls'> {
  return {
    id: call.id,
    tenant_id: storable(call.tenantId),
    principal_id: storable(call.principalId),
    agent_id: storable(call.agentId),
    user_id: storable(call.userId),
    session_id: storable(call.sessionId),
    door: call.door,
    tool: storable(call.tool),
    tool_version: storable(call.toolVersion),
    executor: call.executor,
    arguments_hash: call.argumentsHash,
    kind: call.kind,
    status: 'queued',
    read_only: call.readOnly,
    idempotent: call.idempotent,
    partial_side_effects: false,
    attempts: 0,
    registry_version: call.registryVersion,
    trace_id: call.traceId,
    request: JSON.stringify({ call: call.request }),
    schedule_id: call.schedule?.id ?? null,
    fire_time: call.schedule === undefined ? null : new Date(call.schedule.fireTime),
    created_at: NOW,
    deadline_at: later(call.maxWaitMs),
    queue_rank: rank,
  };
}

function webhookOf({ id, tenantId, callbackUrl }: NewCall) {
  if (callbackUrl === undefined) return [];
  const webhook = {
    id: uuidv7(Date.now()),
    call_id: id,
    tenant_id: storable(tenantId),
    url: callbackUrl,
    status: 'pending' as const,
    next_attempt_at: NOW,
    created_at: NOW,
  };
  return [webhook];
}

export const NOW = sql<Date>`now()`;

export function later(ms: number) {
  return sql<Date>`now() + ${ms}::float8 * interval '1 millisecond'`;
}

/** PostgreSQL keeps no NUL in text. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\u{fffd}');
}

export function storedCallOf(row: Selectable<CallsTable>): StoredCall {
  const envelope = row.response?.['envelope'];
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    tenantId: row.tenant_id,
    principalId: row.principal_id,
    tool: row.tool,
    toolVersion: row.tool_version,
    executor: row.executor,
    readOnly: row.read_only,
    idempotent: row.idempotent,
    partialSideEffects: row.partial_side_effects,
    errorType: row.error_type,
    reason: row.reason,
    runs: row.attempts,
    claim: row.claim,
    durationMs: row.duration_ms,
    registryVersion: row.registry_version,
    traceId: row.trace_id,
    cancelRequested: row.cancel_requested,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    ...(typeof envelope === 'string' && { envelope }),
  };
}
