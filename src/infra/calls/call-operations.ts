// What callers and operators do with calls that run fromNow, in SQL: look, cancel, run again, follow.
import { sql, type Kysely } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import type {
  Again,
  CancelOutcome,
  QueueState,
  RetryOutcome,
  StoredCall,
  StoredEvent,
} from '../../ports/calls/call-store.ts';
import { retryOutcomeOf } from '../../ports/retry-outcome.ts';
import { fromNow, NOW, STORED_CALL, storedCallOf, type StoredRow } from './call-rows.ts';
import { ENDED, RECORD_ENDS } from './record-ends.ts';
import { recordedCall } from './recorded-call.ts';
import type { Tables } from '../postgres/tables.ts';

type Db = Kysely<Tables>;

export async function getCall(db: Db, tenantId: string, id: string): Promise<StoredCall | undefined> {
  const { rows } = await sql<StoredRow>`
    SELECT ${STORED_CALL} FROM calls c WHERE id = ${id} AND tenant_id = ${tenantId}`.execute(db);
  const [row] = rows;
  return row === undefined ? recordedCall(db, tenantId, id) : storedCallOf(row);
}

const WAITS = sql`status IN ('waiting_approval', 'queued')`;

/** Its approval is locked first, as by whoever decides about it: neither can lock the other out. */
export async function cancelCall(db: Db, tenantId: string, id: string): Promise<CancelOutcome | undefined> {
  const { rows } = await sql<{ status: string }>`WITH asked AS MATERIALIZED (
      SELECT id FROM approvals WHERE call_id = ${id} AND tenant_id = ${tenantId} FOR UPDATE),
    ended AS (
    UPDATE calls c SET cancel_requested = true,
      error_type = CASE WHEN ${WAITS} THEN 'CANCELLED' END,
      reason = CASE WHEN ${WAITS} THEN 'CANCELLED' END,
      finished_at = CASE WHEN ${WAITS} THEN now() END,
      status = CASE WHEN ${WAITS} THEN 'cancelled' ELSE status END
    WHERE id = ${id} AND tenant_id = ${tenantId} AND kind <> 'sync' AND (${WAITS} OR status = 'running')
      AND (SELECT count(*) FROM asked) >= 0
    RETURNING ${ENDED}),
    closed AS (UPDATE approvals SET status = 'cancelled' FROM ended
      WHERE call_id = ended.id AND approvals.status = 'pending' AND ended.status = 'cancelled'),
    ${RECORD_ENDS} SELECT status FROM ended`.execute(db);
  if (rows[0] !== undefined) return rows[0].status === 'cancelled' ? 'cancelled' : 'requested';
  return (await getCall(db, tenantId, id)) === undefined ? undefined : 'ended';
}

export async function approvalShown(db: Db, tenantId: string, id: string): Promise<void> {
  await sql`UPDATE calls SET notes = jsonb_set(notes, '{approval,shown}', 'true')
    WHERE id = ${id} AND tenant_id = ${tenantId} AND status = 'waiting_approval' AND notes ? 'approval'`.execute(
    db,
  );
}

/** Its message to the callback, if it has one, goes out again as well. */
export async function retryCall(
  db: Db,
  {
    tenantId,
    id,
    force,
    request,
    by,
    maxWaitMs,
  }: Again & { tenantId: string; id: string; maxWaitMs: number },
): Promise<RetryOutcome | undefined> {
  const { rows } = await sql`
    WITH again AS (
      UPDATE calls SET status = 'queued', attempts = 0, response = NULL, error_type = NULL, reason = NULL,
        partial_side_effects = false, cancel_requested = false, started_at = NULL, finished_at = NULL,
        duration_ms = NULL, not_before = NULL, deadline_at = ${fromNow(maxWaitMs)},
        request = ${JSON.stringify({ call: request })}::jsonb,
        notes = COALESCE(notes, '{}') - 'approval' || ${JSON.stringify({ retried_by: by })}::jsonb
      WHERE id = ${id} AND tenant_id = ${tenantId} AND kind <> 'sync'
        AND status IN ('failed', 'cancelled', 'outcome_unknown')
        AND (${force}::boolean OR idempotent OR read_only
          OR (NOT partial_side_effects AND status <> 'outcome_unknown'))
      RETURNING id),
    told AS (
      UPDATE webhooks w SET status = 'pending', attempts = 0, last_error = '', finished_at = NULL, next_attempt_at = now()
      FROM again WHERE w.call_id = again.id)
    SELECT id FROM again`.execute(db);
  if (rows.length > 0) return 'queued';
  const call = await getCall(db, tenantId, id);
  if (call === undefined) return undefined;
  const outcome = retryOutcomeOf(call, force);
  return outcome === 'queued' ? 'not_ended' : outcome;
}

/** What a call says may hold what PostgreSQL's JSON cannot: it is kept as text. */
export async function appendCallEvents(
  db: Db,
  callId: string,
  events: readonly StoredEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await db
    .insertInto('call_events')
    .values(
      events.map(({ seq, kind, data }) => ({
        call_id: callId,
        seq,
        at: NOW,
        kind,
        data: JSON.stringify({ text: JSON.stringify(data) }),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function lastCallEvent(db: Db, callId: string): Promise<number> {
  const row = await db
    .selectFrom('call_events')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .where('call_id', '=', callId)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

export async function callEvents(
  db: Db,
  callId: string,
  afterSeq: number,
  limit: number,
): Promise<readonly StoredEvent[]> {
  const rows = await db
    .selectFrom('call_events')
    .select(['seq', 'kind', 'data'])
    .where('call_id', '=', callId)
    .where('seq', '>', afterSeq)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(({ seq, kind, data }) => ({
    seq,
    kind,
    data: JSON.parse(typeof data['text'] === 'string' ? data['text'] : '{}') as JsonObject,
  }));
}

export async function queueState(db: Db): Promise<QueueState> {
  const { rows } = await sql<{ queued: number; running: number; waiting: number; oldest: number | null }>`
    SELECT count(*) AS queued,
      (SELECT count(*) FROM calls WHERE kind <> 'sync' AND status = 'running') AS running,
      (SELECT count(*) FROM calls WHERE status = 'waiting_approval') AS waiting,
      extract(epoch FROM now() - min(greatest(created_at, coalesce(not_before, created_at)))
        FILTER (WHERE not_before IS NULL OR not_before <= now()))::float8 AS oldest
    FROM calls WHERE kind <> 'sync' AND status = 'queued'`.execute(db);
  const [row] = rows;
  return {
    waitingApproval: row?.waiting ?? 0,
    queued: row?.queued ?? 0,
    running: row?.running ?? 0,
    oldestWaitingSeconds: row?.oldest ?? 0,
  };
}
