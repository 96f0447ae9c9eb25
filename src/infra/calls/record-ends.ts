// Audit records of calls that end without the gateway that ran them: by a statement of their own, together with their rows.
import { sql } from 'kysely';
import { OWNER_LOST } from './owner-lost.ts';

/** What a statement that ends calls gives back as `ended`: what their records say, and no argument or result. */
export const ENDED = sql`c.id, c.claim, c.status, c.finished_at, c.door, c.principal_id, c.tenant_id, c.agent_id, c.user_id,
  c.session_id, c.tool, c.tool_version, c.executor, c.error_type, c.reason, c.arguments_hash, c.attempts,
  c.partial_side_effects, c.registry_version, c.trace_id`;

/** `recorded AS (…)` behind `ended`, for those that have ended: they are chained a moment later. */
export const RECORD_ENDS = sql`recorded AS (
  INSERT INTO audit_inbox (record)
  SELECT json_build_object('event_id', gen_random_uuid(),
    'kind', CASE reason WHEN ${OWNER_LOST} THEN 'reconciled' ELSE 'outcome' END, 'at', now(), 'call_id', id, 'door', door,
    'principal_id', principal_id, 'tenant_id', tenant_id, 'agent_id', agent_id, 'user_id', user_id,
    'session_id', session_id, 'tool', tool, 'tool_version', tool_version, 'executor', executor, 'outcome', error_type,
    'reason', reason, 'arguments_hash', arguments_hash, 'attempts', attempts,
    'partial_side_effects', partial_side_effects, 'registry_version', registry_version, 'trace_id', trace_id)::text
  FROM ended WHERE finished_at IS NOT NULL)`;
