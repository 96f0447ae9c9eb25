// Audit records of calls that end without the gateway that ran them: by a statement of their own, together with their rows.
import { sql } from 'kysely';
import { OWNER_LOST } from '../audit/audit-table.ts';

/** What a statement that ends calls gives back as `ended`: what their records say, and no argument or result. */
export const ENDED = sql`c.id, c.claim, c.status, c.finished_at, c.door, c.principal_id, c.tenant_id, c.agent_id, c.user_id,
  c.session_id, c.tool, c.tool_version, c.executor, c.error_type, c.reason, c.arguments_hash, c.attempts,
  c.partial_side_effects, c.registry_version, c.trace_id`;

/**
 * `recorded AS (…)` behind `ended`, for those that have ended. The same call may end again, after somebody had it run
 * again: each end has an id of its own.
 */
export const RECORD_ENDS = sql`recorded AS (
  INSERT INTO audit_records (event_id, kind, at, call_id, door, principal_id, tenant_id, agent_id, user_id, session_id,
    requested_tool, tool, tool_version, executor, outcome, reason, arguments_hash, attempts, duration_ms,
    partial_side_effects, registry_version, trace_id)
  SELECT 'ended-' || id || '-' || (extract(epoch FROM finished_at) * 1000000)::bigint,
    CASE reason WHEN ${OWNER_LOST} THEN 'reconciled' ELSE 'outcome' END, now(), id, door, principal_id, tenant_id, agent_id,
    user_id, session_id, tool, tool, tool_version, executor, error_type, reason, arguments_hash, attempts, 0,
    partial_side_effects, registry_version, trace_id
  FROM ended WHERE finished_at IS NOT NULL)`;
