// Ends calls that began and whose process died: nobody can tell how they ended, and nobody will.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { Tables } from '../postgres/tables.ts';
import { OWNER_LOST } from './owner-lost.ts';
import { ENDED, RECORD_ENDS } from './record-ends.ts';

export interface ReconciledCall {
  readonly id: string;
  readonly status: 'outcome_unknown' | 'failed';
}

const BATCH = 500;

interface Reconciler {
  /** The gateway that asks, by its signs of life. */
  readonly gateway: string;
  readonly leaseMs: number;
}

/**
 * Of calls whose time is over since `leaseMs`, and whose gateway has had its time to tell of their end: one that could
 * change nothing has failed, of any other the outcome is unknown. A gateway that lives has had it when its journal is in
 * the database up to then; one that gives no sign, when the signs of whoever asks have come for so long without a gap, so
 * that it is not the database that was away. Replicas share the work; each call is ended by one of them, together with
 * its audit record.
 */
export async function reconcileCalls(
  { db }: Pick<Database, 'db'>,
  { gateway, leaseMs }: Reconciler,
): Promise<readonly ReconciledCall[]> {
  return db.transaction().execute(async (trx) => {
    const lost = await takeLost(trx, { gateway, leaseMs });
    if (lost.length === 0) return [];
    const told = await endedAfterAll(trx, lost);
    const ids = lost.map(({ id }) => id).filter((id) => !told.has(id));
    const { rows } = await sql<ReconciledCall>`
      WITH ended AS (
        UPDATE calls c SET
          status = CASE WHEN read_only THEN 'failed' ELSE 'outcome_unknown' END,
          error_type = CASE WHEN read_only THEN 'UNAVAILABLE' ELSE 'OUTCOME_UNKNOWN' END,
          reason = ${OWNER_LOST}, partial_side_effects = NOT read_only, finished_at = now()
        WHERE c.id = ANY(${ids}::text[])
        RETURNING ${ENDED}
      ), ${RECORD_ENDS}
      SELECT id, status FROM ended`.execute(trx);
    return rows;
  });
}

interface Lost {
  readonly id: string;
  readonly created_at: Date;
}

async function takeLost(
  trx: Transaction<Tables>,
  { gateway, leaseMs }: Reconciler,
): Promise<readonly Lost[]> {
  const lease = sql`${leaseMs}::double precision * interval '1 millisecond'`;
  const { rows } = await sql<Lost>`
      SELECT id, created_at FROM calls AS call
      WHERE kind = 'sync' AND status = 'running' AND deadline_at < now() - ${lease}
        AND NOT EXISTS (
          SELECT FROM gateways AS owner WHERE owner.id = call.owner
            AND CASE WHEN owner.alive_at > now() - ${lease}
              THEN owner.shipped_to IS NULL OR owner.shipped_to < call.deadline_at + ${lease}
              ELSE NOT EXISTS (SELECT FROM gateways AS own WHERE own.id = ${gateway} AND own.steady_since < now() - ${lease}) END)
      ORDER BY id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`.execute(trx);
  return rows;
}

/** By how much the clock of a gateway may be ahead of the database's. */
const SLACK_MS = 86_400_000;

/**
 * An intent that came to be committed after its outcome: the statement had hung, and nobody waited for it. The outcome is
 * on record, and the call needs no row.
 */
async function endedAfterAll(trx: Transaction<Tables>, lost: readonly Lost[]): Promise<ReadonlySet<string>> {
  const ids = lost.map(({ id }) => id);
  const oldest = new Date(Math.min(...lost.map(({ created_at: at }) => at.getTime())) - SLACK_MS);
  const { rows } = await sql<{ id: string }>`
    SELECT call_id AS id FROM audit_trail WHERE recorded_at >= ${oldest} AND kind = 'outcome'
      AND coalesce(call_id, event_id) = ANY(${ids}::text[])`.execute(trx);
  const told = rows.map(({ id }) => id);
  if (told.length > 0) await sql`DELETE FROM calls WHERE id = ANY(${told}::text[])`.execute(trx);
  return new Set(told);
}
