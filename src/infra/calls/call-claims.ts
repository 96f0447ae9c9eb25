// Claims on calls, in SQL: each statement is one step of a call's life, and does nothing to a call that stands elsewhere.
import { sql, type Kysely } from 'kysely';
import { stringifyInSlices } from '../../lib/large-json/write-json.ts';
import type { CallEnd, CallStatus, Claim, ClaimedCall } from '../../ports/calls/call-store.ts';
import { columns } from '../postgres/columns.ts';
import { fromNow } from './call-rows.ts';
import { ENDED, RECORD_ENDS } from './record-ends.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';

type Db = Kysely<Tables>;

const CLAIMED_NAMES = ['id', 'claim', 'kind', 'tenantId', 'tool', 'idempotent', 'readOnly', 'run', 'request', 'approval']; // oxfmt-ignore
/** The row of the call may have been changed since; that of the approval says what was approved. */
const APPROVAL = sql`(SELECT json_build_object('isDecided', a.status <> 'pending' OR a.expires_at <= now(),
  'isFirst', NOT coalesce(calls.notes ? 'retried_by', false), 'tool', a.tool, 'toolHash', a.tool_hash,
  'argumentsHash', a.arguments_hash, 'requestedBy', a.requested_by, 'agentId', a.agent_id, 'userId', a.user_id)
  FROM approvals a WHERE a.call_id = calls.id)`;
const CLAIMED = sql`${columns<ClaimedCall>(['id', 'claim', 'kind', 'tenantId', 'tool', 'idempotent', 'readOnly'])},
  attempts AS run, coalesce(request ->> 'call', '') AS request, ${APPROVAL} AS approval`;

/** May run now. */
const READY = sql`status = 'queued' AND kind <> 'sync' AND (not_before IS NULL OR not_before <= now())
  AND (deadline_at IS NULL OR deadline_at > now())`;

/** The first of those that wait, in their order; rows that another replica is claiming at this moment are left to it. */
export async function claimCalls(
  db: Db,
  owner: string,
  leaseMs: number,
  limit: number,
): Promise<readonly ClaimedCall[]> {
  const { rows } = await sql<ClaimedCall>`/* claim_calls */
    WITH claimed AS (
      UPDATE calls SET status = 'running', claim = claim + 1, attempts = attempts + 1, owner = ${owner},
        lease_expires_at = ${fromNow(leaseMs)}, started_at = coalesce(started_at, now()), not_before = NULL
      WHERE id = ANY(ARRAY(
        SELECT id FROM calls WHERE ${READY} ORDER BY queue_rank, created_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED))
      RETURNING ${CLAIMED}, queue_rank, created_at)
    SELECT ${sql.join(CLAIMED_NAMES.map((name) => sql.ref(name)))} FROM claimed
    ORDER BY queue_rank, created_at, id`.execute(db);
  return rows;
}

export async function reclaimCalls(db: Db, owner: string, leaseMs: number): Promise<readonly ClaimedCall[]> {
  const { rows } = await sql<ClaimedCall>`
    UPDATE calls SET lease_expires_at = ${fromNow(leaseMs)}
    WHERE status = 'running' AND kind <> 'sync' AND owner = ${owner} RETURNING ${CLAIMED}`.execute(db);
  return rows;
}

/**
 * Locked in the order of their ids: two statements about the same calls cannot lock each other out. Found by their key
 * alone: asked for their status, the planner would go through the index of the unfinished, with an entry of each that
 * has ended since the last vacuum.
 */
function heldRows(claims: readonly { readonly id: string }[]) {
  const ids = claims.map(({ id }) => id);
  return sql`WITH held AS MATERIALIZED (
    SELECT id, status FROM calls WHERE id = ANY(${ids}::text[]) ORDER BY id FOR UPDATE)`;
}

const IS_HELD = sql`c.id = ANY(ARRAY(SELECT id FROM held WHERE status = 'running'))`;

export async function renewClaims(
  db: Db,
  claims: readonly Claim[],
  leaseMs: number,
): Promise<readonly (Claim & { cancelRequested: boolean })[]> {
  const { rows } = await sql<Claim & { cancelRequested: boolean }>`/* renew_calls */
    ${heldRows(claims)}
    UPDATE calls c SET lease_expires_at = ${fromNow(leaseMs)}
    FROM json_to_recordset(${JSON.stringify(claims)}::json) AS m(id text, claim int)
    WHERE ${IS_HELD} AND c.id = m.id AND c.claim = m.claim
    RETURNING c.id, c.claim, c.cancel_requested AS "cancelRequested"`.execute(db);
  return rows;
}

export interface Finish {
  readonly claim: Claim;
  readonly end: CallEnd;
}

/** True for each whose claim was still good. */
export async function finishCalls(db: Db, finishes: readonly Finish[]): Promise<readonly boolean[]> {
  const ends = finishes.map(({ claim: { id, claim }, end }) => ({
    id,
    claim,
    status: end.status,
    error_type: end.errorType,
    reason: end.reason === null ? null : storable(end.reason),
    effects: end.partialSideEffects,
    ms: end.durationMs,
    version: storable(end.toolVersion),
    trace: storable(end.traceId),
    envelope: end.envelope,
  }));
  const rowsJson = await stringifyInSlices(ends);
  const { rows } = await sql<{ id: string }>`/* finish_calls */
    ${heldRows(ends)}
    UPDATE calls c SET status = e.status, error_type = e.error_type, reason = e.reason,
      partial_side_effects = e.effects, duration_ms = e.ms, tool_version = e.version, trace_id = e.trace,
      response = jsonb_build_object('envelope', e.envelope), finished_at = now(), owner = NULL, lease_expires_at = NULL
    FROM json_to_recordset(${rowsJson}::json) AS e(id text, claim int, status text,
      error_type text, reason text, effects boolean, ms float8, version text, trace text, envelope text)
    WHERE ${IS_HELD} AND c.id = e.id AND c.claim = e.claim
    RETURNING c.id`.execute(db);
  const written = new Set(rows.map(({ id }) => id));
  return finishes.map(({ claim }) => written.has(claim.id));
}

export async function giveCallBack(db: Db, { id, claim }: Claim, delayMs: number): Promise<boolean> {
  const { rows } = await sql`WITH ended AS (
    UPDATE calls c SET status = CASE WHEN cancel_requested THEN 'cancelled' ELSE 'queued' END,
      error_type = CASE WHEN cancel_requested THEN 'CANCELLED' END,
      reason = CASE WHEN cancel_requested THEN 'CANCELLED' END,
      finished_at = CASE WHEN cancel_requested THEN now() END,
      attempts = greatest(attempts - 1, 0), not_before = ${fromNow(delayMs)}, owner = NULL, lease_expires_at = NULL
    WHERE id = ${id} AND claim = ${claim} AND status = 'running' RETURNING ${ENDED}),
    ${RECORD_ENDS} SELECT id FROM ended`.execute(db);
  return rows.length > 0;
}

const SWEPT_AT_ONCE = 500;

/**
 * Of a call that may have acted nobody can tell; one that may run twice runs again, as long as it is worth it. Those that
 * end are put on record with it.
 */
export async function sweepCalls(
  db: Db,
  maxRuns: number,
): Promise<readonly (Claim & { readonly status: CallStatus })[]> {
  const lost = await sql<Claim & { status: CallStatus }>`
    WITH lost AS (
      SELECT id, CASE WHEN NOT (idempotent OR read_only) THEN 'outcome_unknown' WHEN cancel_requested THEN 'cancelled'
          WHEN attempts >= ${maxRuns} THEN 'failed' ELSE 'queued' END AS next
      FROM calls WHERE kind <> 'sync' AND status = 'running' AND lease_expires_at < now()
      ORDER BY id LIMIT ${SWEPT_AT_ONCE} FOR UPDATE SKIP LOCKED),
    ended AS (UPDATE calls c SET status = lost.next, owner = NULL, lease_expires_at = NULL,
      error_type = CASE lost.next WHEN 'outcome_unknown' THEN 'OUTCOME_UNKNOWN' WHEN 'cancelled' THEN 'CANCELLED'
        WHEN 'failed' THEN 'UNAVAILABLE' END,
      reason = CASE lost.next WHEN 'cancelled' THEN 'CANCELLED' WHEN 'queued' THEN NULL ELSE 'OWNER_LOST' END,
      partial_side_effects = lost.next <> 'queued' AND NOT c.read_only,
      finished_at = CASE WHEN lost.next <> 'queued' THEN now() END
    FROM lost WHERE c.id = lost.id AND c.status = 'running' AND c.lease_expires_at < now()
    RETURNING ${ENDED}),
    ${RECORD_ENDS} SELECT id, claim, status FROM ended`.execute(db);
  const late = await sql<Claim & { status: CallStatus }>`
    WITH late AS (
      SELECT id FROM calls WHERE kind <> 'sync' AND status = 'queued' AND deadline_at < now()
      ORDER BY id LIMIT ${SWEPT_AT_ONCE} FOR UPDATE SKIP LOCKED),
    ended AS (UPDATE calls c SET status = 'failed', error_type = 'TIMEOUT', reason = 'WAITED_TOO_LONG', finished_at = now()
    FROM late WHERE c.id = late.id AND c.status = 'queued'
    RETURNING ${ENDED}),
    ${RECORD_ENDS} SELECT id, claim, status FROM ended`.execute(db);
  const undecided = await sql<Claim & { status: CallStatus }>`
    WITH late AS (
      SELECT id FROM calls WHERE status = 'waiting_approval' AND deadline_at <= now()
      ORDER BY id LIMIT ${SWEPT_AT_ONCE} FOR UPDATE SKIP LOCKED),
    ended AS (UPDATE calls c SET status = 'failed', error_type = 'CONFLICT', reason = 'APPROVAL_EXPIRED', finished_at = now()
    FROM late WHERE c.id = late.id AND c.status = 'waiting_approval'
    RETURNING ${ENDED}),
    ${RECORD_ENDS} SELECT id, claim, status FROM ended`.execute(db);
  return [...lost.rows, ...late.rows, ...undecided.rows];
}
