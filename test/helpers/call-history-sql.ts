// The history of calls as SQL for tests that look into the database: calls of their own rows, and those told by their records.

/** All calls, with their id, status, tool and error type: a subquery. */
export const CALL_HISTORY = `(
  SELECT id, tenant_id, kind, tool, status, error_type, finished_at FROM calls
  UNION ALL
  SELECT call_id, tenant_id, call_kind, coalesce(tool, requested_tool),
    CASE outcome WHEN 'ok' THEN 'succeeded' WHEN 'CANCELLED' THEN 'cancelled' WHEN 'OUTCOME_UNKNOWN' THEN 'outcome_unknown'
      ELSE 'failed' END, nullif(outcome, 'ok'), at
  FROM audit_trail WHERE kind = 'outcome' AND call_kind IS NOT NULL
    AND NOT EXISTS (SELECT FROM calls WHERE calls.id = audit_trail.call_id)
)`;
