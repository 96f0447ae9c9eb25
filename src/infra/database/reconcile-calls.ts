// Ends calls that began and whose process died: nobody can tell how they ended, and nobody will.
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { OWNER_LOST } from './audit-table.ts';

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
      UPDATE calls SET
        status = CASE WHEN read_only THEN 'failed' ELSE 'outcome_unknown' END,
        error_type = CASE WHEN read_only THEN 'UNAVAILABLE' ELSE 'OUTCOME_UNKNOWN' END,
        reason = ${OWNER_LOST}, partial_side_effects = NOT read_only, finished_at = now()
      FROM lost WHERE calls.id = lost.id
      RETURNING calls.*
    ), recorded AS (
      INSERT INTO audit_records (event_id, kind, at, call_id, door, principal_id, tenant_id, agent_id, user_id, session_id,
        requested_tool, tool, tool_version, executor, outcome, reason, arguments_hash, attempts, duration_ms,
        partial_side_effects, registry_version, trace_id)
      SELECT 'reconciled-' || id, 'reconciled', now(), id, door, principal_id, tenant_id, agent_id, user_id, session_id,
        tool, tool, tool_version, executor, error_type, reason, arguments_hash, attempts, 0,
        partial_side_effects, registry_version, trace_id
      FROM ended
      ON CONFLICT (event_id) DO NOTHING
    )
    SELECT id, status FROM ended`.execute(db);
  return rows;
}
