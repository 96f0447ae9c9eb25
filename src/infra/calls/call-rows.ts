// The rows of calls that run later: how one is written, and how it is read again.
import { sql, type Kysely } from 'kysely';
import { uuidv7 } from '../../lib/ids.ts';
import type { CallApproval, FirstClaim, NewCall, StoredCall } from '../../ports/calls/call-store.ts';
import { columns } from '../postgres/columns.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';

/** Of the priorities, each has so many ranks; those of a tenant count up from its class's first. */
const RANKS = 600_000;
export const LAST_RANK_OF_CLASS = RANKS;
const CLASS = { high: 0, normal: 1, low: 2 } as const;

export interface Acceptance {
  readonly call: NewCall;
  /** Of its tenant's calls that wait; one more is not written. */
  readonly maxQueued: number;
  /** It does not wait: this owner runs it as soon as it is written. */
  readonly claim?: FirstClaim | undefined;
  /** It waits for that, and not in the queue: until it is decided, or expires. */
  readonly approval?: CallApproval;
}

/**
 * Writes accepted calls, in a transaction of whoever calls it, too: a call and what made it are committed together. The
 * queue finds the rows by itself; to have them run at once, offer them to it after the commit. Gives the ids of those
 * there was capacity for; what is there already stays as it is.
 *
 * Tenants take turns: the n-th waiting call of one has the rank of the n-th of any other.
 */
export async function insertCalls(
  db: Kysely<Tables>,
  calls: readonly Acceptance[],
): Promise<ReadonlySet<string>> {
  if (calls.length === 0) return new Set();
  const tenants = [...new Set(calls.map(({ call }) => storable(call.tenantId)))];
  const { rows } = await sql<{ id: string }>`/* accept_calls */
    WITH incoming AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(calls.map(rowOf))}::json) AS r(
        place int, max_queued int, owner text, lease_ms float8, first_rank int, wait_ms float8, fire_ms float8,
        webhook_id text, url text, notes jsonb, until timestamptz,
        id text, tenant_id text, principal_id text, agent_id text, user_id text, session_id text, door text,
        tool text, tool_version text, executor text, arguments_hash text, kind text, read_only boolean,
        idempotent boolean, registry_version text, trace_id text, request jsonb, schedule_id text)
    ), waiting AS MATERIALIZED (
      SELECT tenant_id, count(*) AS calls FROM calls
      WHERE status = 'queued' AND kind <> 'sync' AND tenant_id = ANY(${tenants}::text[]) GROUP BY tenant_id
    ), placed AS MATERIALIZED (
      SELECT i.*, i.owner IS NULL AS waits, i.until IS NOT NULL AS asks, coalesce(w.calls, 0) + count(*) FILTER (WHERE i.owner IS NULL)
        OVER (PARTITION BY i.tenant_id ORDER BY i.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ahead
      FROM incoming i LEFT JOIN waiting w USING (tenant_id)
    ), written AS (
      INSERT INTO calls (id, tenant_id, principal_id, agent_id, user_id, session_id, door, tool, tool_version,
        executor, arguments_hash, kind, status, read_only, idempotent, partial_side_effects, attempts,
        registry_version, trace_id, request, schedule_id, fire_time, created_at, deadline_at, queue_rank,
        claim, owner, lease_expires_at, started_at, notes)
      SELECT id, tenant_id, principal_id, agent_id, user_id, session_id, door, tool, tool_version,
        executor, arguments_hash, kind, 
        CASE WHEN asks THEN 'waiting_approval' WHEN waits THEN 'queued' ELSE 'running' END, read_only, idempotent, false,
        CASE WHEN waits THEN 0 ELSE 1 END,
        registry_version, trace_id, request, schedule_id, 'epoch'::timestamptz + fire_ms * interval '1 millisecond',
        now(), coalesce(until, now() + wait_ms * interval '1 millisecond'), first_rank + least(ahead, ${RANKS - 1}::int),
        CASE WHEN waits THEN 0 ELSE 1 END, owner, now() + lease_ms * interval '1 millisecond',
        CASE WHEN NOT waits THEN now() END, notes
      FROM placed WHERE NOT waits OR ahead < max_queued ORDER BY place
      ON CONFLICT DO NOTHING RETURNING id
    ), told AS (
      INSERT INTO webhooks (id, call_id, tenant_id, url, status, next_attempt_at, created_at)
      SELECT p.webhook_id, p.id, p.tenant_id, p.url, 'pending', now(), now()
      FROM placed p JOIN written USING (id) WHERE p.url IS NOT NULL
    )
    SELECT id FROM placed WHERE NOT waits OR ahead < max_queued`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

function rowOf({ call, maxQueued, claim, approval }: Acceptance, place: number) {
  return {
    place,
    max_queued: maxQueued,
    owner: claim?.owner,
    lease_ms: claim?.leaseMs,
    first_rank: CLASS[call.priority] * RANKS + 1,
    wait_ms: call.maxWaitMs,
    fire_ms: call.schedule?.fireTime,
    webhook_id: call.callbackUrl && uuidv7(Date.now()),
    url: call.callbackUrl,
    notes: approval && { approval },
    until: approval?.expires_at,
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
    read_only: call.readOnly,
    idempotent: call.idempotent,
    registry_version: call.registryVersion,
    trace_id: call.traceId,
    request: { call: call.request },
    schedule_id: call.schedule?.id,
  };
}

export const NOW = sql<Date>`now()`;

export function fromNow(ms: number) {
  return sql<Date>`now() + ${ms}::float8 * interval '1 millisecond'`;
}

export type StoredRow = Omit<StoredCall, 'request' | 'envelope' | 'approval'> & {
  readonly approval: CallApproval | null;
  readonly request: string | null;
  readonly envelope: string | null;
};

// oxfmt-ignore
const NAMES = [
  'id', 'kind', 'status', 'tenantId', 'principalId', 'agentId', 'userId', 'sessionId', 'door', 'tool', 'toolVersion', 'executor',
  'readOnly', 'idempotent', 'partialSideEffects', 'errorType', 'reason', 'claim', 'durationMs', 'registryVersion', 'traceId',
  'cancelRequested', 'scheduleId', 'createdAt', 'startedAt', 'finishedAt',
] as const;

/** Of `calls c`. The texts in its JSON are taken out of it by the database: read here, a large one would hold the event loop. */
const WITHOUT_TEXTS = sql`${columns<StoredCall>(NAMES, 'c')}, c.attempts AS runs, c.notes -> 'approval' AS approval`;
export const STORED_CALL = sql`${WITHOUT_TEXTS}, c.request ->> 'call' AS request, c.response ->> 'envelope' AS envelope`;
/** For lists. */
export const LISTED_CALL = sql`${WITHOUT_TEXTS}, NULL AS request, NULL AS envelope`;

export function storedCallOf({ envelope, request, approval, ...call }: StoredRow): StoredCall {
  return {
    ...call,
    ...(approval !== null && { approval }),
    ...(envelope !== null && { envelope }),
    ...(request !== null && { request }),
  };
}
