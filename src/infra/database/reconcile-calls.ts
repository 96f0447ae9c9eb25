// Ends calls that began and whose process died: nobody can tell how they ended, and nobody will.
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { OWNER_LOST } from './audit-table.ts';
import { ENDED, RECORD_ENDS } from './record-ends.ts';

export interface ReconciledCall {
  readonly id: string;
  readonly status: 'outcome_unknown' | 'failed';
}

const BATCH = 500;

/**
 * Of calls whose time is over since `leaseMs`: one that could change nothing has failed, of any other the outcome is
 * unknown. Replicas share the work; each call is ended by one of them, together with its audit record.
 */
export async function reconcileCalls(
  { db }: Pick<Database, 'db'>,
  leaseMs: number,
): Promise<readonly ReconciledCall[]> {
  const { rows } = await sql<ReconciledCall>`
    WITH lost AS MATERIALIZED (
      SELECT id FROM calls
      WHERE kind = 'sync' AND status = 'running' AND deadline_at < now() - ${leaseMs}::double precision * interval '1 millisecond'
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
