// SqlAuditTable: audit records as rows, and what they say of the call history, by one statement for many.
import { sql } from 'kysely';
import type { AuditTable } from './audit-shipper.ts';
import { arrayOf } from './json-lines.ts';
import type { Database } from '../postgres/database.ts';

/** Of what the gateway itself ended for want of an outcome; an outcome that comes late is still the truth. */
export const OWNER_LOST = 'OWNER_LOST';

const STORE = { name: sql`/* store_audit_records */`, deadlineFrom: sql`at` };
const INTEND = { name: sql`/* store_audit_intents */`, deadlineFrom: sql`now()` };

export class SqlAuditTable implements AuditTable {
  readonly #db: Database['db'];
  readonly #gateway: string;

  /** `gateway`: whose calls they are, by its signs of life. */
  constructor({ db }: Pick<Database, 'db'>, gateway: string) {
    this.#db = db;
    this.#gateway = gateway;
  }

  store(lines: Buffer): Promise<void> {
    return this.#insert(arrayOf(lines), STORE);
  }

  /** Straight from a running call: how long it may take counts by the database's own time. */
  intend(lines: readonly string[]): Promise<void> {
    return this.#insert(`[${lines.join(',')}]`, INTEND);
  }

  async #insert(recordsJson: string | Buffer, kind: typeof STORE): Promise<void> {
    await storeStatement(recordsJson, this.#gateway, kind).execute(this.#db);
  }
}

/**
 * The records are JSON text already: the database reads them, and no JavaScript touches them again. Of a call whose
 * intent and outcome come together, the outcome makes the row. Rows are written in the order of their ids, so that two
 * of these statements cannot lock each other out.
 */
function storeStatement(recordsJson: string | Buffer, gateway: string, { name, deadlineFrom }: typeof STORE) {
  return sql`${name}
    WITH incoming AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${recordsJson}::json) AS record (
        event_id text, kind text, at timestamptz, call_id text, call_kind text, door text, principal_id text,
        tenant_id text, agent_id text, user_id text, session_id text, requested_tool text, tool text, tool_version text,
        executor text, outcome text, reason text, arguments_hash text, read_only boolean, idempotent boolean,
        attempts integer, duration_ms double precision, remaining_ms double precision, partial_side_effects boolean,
        registry_version text, trace_id text, notes jsonb)
    ), kept AS (
      INSERT INTO audit_records (event_id, kind, at, call_id, door, principal_id, tenant_id, agent_id, user_id, session_id,
        requested_tool, tool, tool_version, executor, outcome, reason, arguments_hash, attempts, duration_ms,
        partial_side_effects, registry_version, trace_id, notes)
      SELECT event_id, kind, at, call_id, door, principal_id, tenant_id, agent_id, user_id, session_id,
        requested_tool, tool, tool_version, executor, outcome, reason, arguments_hash, attempts, duration_ms,
        partial_side_effects, registry_version, trace_id, notes
      FROM incoming ORDER BY event_id
      ON CONFLICT (event_id) DO NOTHING
    )
    INSERT INTO calls (id, tenant_id, principal_id, agent_id, user_id, session_id, door, tool, tool_version, executor,
      arguments_hash, kind, status, error_type, reason, read_only, idempotent, partial_side_effects, attempts, duration_ms,
      registry_version, trace_id, notes, created_at, started_at, finished_at, deadline_at, owner)
    SELECT DISTINCT ON (call_id)
      call_id, tenant_id, principal_id, agent_id, user_id, session_id, door,
      CASE tool WHEN '' THEN requested_tool ELSE tool END, tool_version, executor,
      arguments_hash, call_kind,
      CASE WHEN kind = 'intent' THEN 'running' WHEN outcome = 'ok' THEN 'succeeded' WHEN outcome = 'CANCELLED' THEN 'cancelled'
        WHEN outcome = 'OUTCOME_UNKNOWN' THEN 'outcome_unknown' ELSE 'failed' END,
      CASE WHEN kind = 'intent' OR outcome = 'ok' THEN NULL ELSE outcome END, NULLIF(reason, ''),
      read_only, idempotent, partial_side_effects, attempts, CASE kind WHEN 'intent' THEN NULL ELSE duration_ms END,
      registry_version, trace_id, notes, at, at,
      CASE kind WHEN 'intent' THEN NULL ELSE at + duration_ms * interval '1 millisecond' END,
      CASE kind WHEN 'intent' THEN ${deadlineFrom} + remaining_ms * interval '1 millisecond' END,
      CASE kind WHEN 'intent' THEN ${gateway} END
    FROM incoming
    WHERE call_kind <> '' AND tenant_id <> ''
    ORDER BY call_id, kind = 'outcome' DESC
    ON CONFLICT (id) DO UPDATE SET
      status = excluded.status, error_type = excluded.error_type, reason = excluded.reason,
      partial_side_effects = excluded.partial_side_effects, attempts = excluded.attempts,
      duration_ms = excluded.duration_ms, notes = excluded.notes, finished_at = excluded.finished_at,
      owner = NULL
    WHERE excluded.finished_at IS NOT NULL AND calls.kind = 'sync'
      AND (calls.finished_at IS NULL OR calls.reason = ${OWNER_LOST})`;
}
