// Ends calls that began and whose process died: nobody can tell how they ended, and nobody will.
import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { OWNER_LOST } from '../audit/audit-table.ts';
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
  const lease = sql`${leaseMs}::double precision * interval '1 millisecond'`;
  const { rows } = await sql<ReconciledCall>`
    WITH lost AS MATERIALIZED (
      SELECT id FROM calls AS call
      WHERE kind = 'sync' AND status = 'running' AND deadline_at < now() - ${lease}
        AND NOT EXISTS (
          SELECT FROM gateways AS owner WHERE owner.id = call.owner
            AND CASE WHEN owner.alive_at > now() - ${lease}
              THEN owner.shipped_to IS NULL OR owner.shipped_to < call.deadline_at + ${lease}
              ELSE NOT EXISTS (SELECT FROM gateways AS own WHERE own.id = ${gateway} AND own.steady_since < now() - ${lease}) END)
      ORDER BY id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
    ), ended AS (
      UPDATE calls c SET
        status = CASE WHEN read_only THEN 'failed' ELSE 'outcome_unknown' END,
        error_type = CASE WHEN read_only THEN 'UNAVAILABLE' ELSE 'OUTCOME_UNKNOWN' END,
        reason = ${OWNER_LOST}, partial_side_effects = NOT read_only, finished_at = now()
      FROM lost WHERE c.id = lost.id
      RETURNING ${ENDED}
    ), ${RECORD_ENDS}
    SELECT id, status FROM ended`.execute(db);
  return rows;
}
