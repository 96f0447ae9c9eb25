// SqlCallHistory: calls and audit records, page by page from the newest back; and the end that a human gives to an unknown one.
import { sql, type Selectable } from 'kysely';
import type {
  AuditEntry,
  AuditFilter,
  CallFilter,
  CallHistory,
  CallSummary,
  HistoryPage,
  HistoryPosition,
  HistoryQuery,
  Resolution,
  ResolveOutcome,
} from '../../ports/calls/call-history.ts';
import type { StoredOutcome } from '../../ports/idempotency-store.ts';
import { uuidv7 } from '../../lib/ids.ts';
import type { Database } from '../postgres/database.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import type { AuditRecordsTable, CallsTable } from '../postgres/tables.ts';

export class SqlCallHistory implements CallHistory {
  readonly #database: Pick<Database, 'db'>;

  constructor(database: Pick<Database, 'db'>) {
    this.#database = database;
  }

  calls(
    tenantId: string,
    { filter, limit, after }: HistoryQuery<CallFilter>,
  ): Promise<HistoryPage<CallSummary>> {
    const { tool, status, errorType, agentId, sessionId, from, to } = filter;
    return withDatabase(async () => {
      let query = this.#database.db
        .selectFrom('calls')
        .select(SUMMARY)
        .select(microseconds('created_at').as('position'))
        .where('tenant_id', '=', tenantId);
      if (tool !== undefined) query = query.where('tool', '=', tool);
      if (status !== undefined) query = query.where('status', '=', status);
      if (errorType !== undefined) query = query.where('error_type', '=', errorType);
      if (agentId !== undefined) query = query.where('agent_id', '=', agentId);
      if (sessionId !== undefined) query = query.where('session_id', '=', sessionId);
      if (from !== undefined) query = query.where('created_at', '>=', from);
      if (to !== undefined) query = query.where('created_at', '<', to);
      if (after !== undefined) query = query.where(before('created_at', 'id', after));
      const rows = await query
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, ({ id }) => id, callOf);
    });
  }

  audit(
    tenantId: string,
    { filter, limit, after }: HistoryQuery<AuditFilter>,
  ): Promise<HistoryPage<AuditEntry>> {
    const { kind, callId, tool, outcome, principalId, from, to } = filter;
    return withDatabase(async () => {
      let query = this.#database.db
        .selectFrom('audit_records')
        .selectAll()
        .select(microseconds('at').as('position'))
        .where('tenant_id', '=', tenantId);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      if (callId !== undefined) query = query.where('call_id', '=', callId);
      if (tool !== undefined) query = query.where('tool', '=', tool);
      if (outcome !== undefined) query = query.where('outcome', '=', outcome);
      if (principalId !== undefined) query = query.where('principal_id', '=', principalId);
      if (from !== undefined) query = query.where('at', '>=', from);
      if (to !== undefined) query = query.where('at', '<', to);
      if (after !== undefined) query = query.where(before('at', 'event_id', after));
      const rows = await query
        .orderBy('at', 'desc')
        .orderBy('event_id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, (row) => row.event_id, entryOf);
    });
  }

  resolve(
    tenantId: string,
    callId: string,
    { outcome, comment, by }: Resolution,
  ): Promise<ResolveOutcome | undefined> {
    const resolution = JSON.stringify({ resolution: { outcome, comment, by } });
    return withDatabase(async () => {
      const { rows } = await sql<SummaryRow>`
        WITH resolved AS (
          UPDATE calls SET status = ${outcome}, reason = 'RESOLVED',
            error_type = CASE WHEN ${outcome} = 'succeeded' THEN NULL ELSE error_type END,
            notes = COALESCE(notes, '{}') || ${resolution}::jsonb
          WHERE id = ${callId} AND tenant_id = ${tenantId} AND status = 'outcome_unknown'
          RETURNING ${sql.join(SUMMARY.map((column) => sql.ref(column)))}
        ), recorded AS (
          INSERT INTO audit_records (event_id, kind, at, call_id, door, principal_id, tenant_id, agent_id, user_id,
            session_id, requested_tool, tool, tool_version, executor, outcome, reason, arguments_hash, attempts, duration_ms,
            partial_side_effects, registry_version, trace_id, notes)
          SELECT ${uuidv7(Date.now())}, 'resolution', now(), id, 'rest', ${by}, tenant_id, agent_id, user_id,
            session_id, tool, tool, tool_version, executor, ${outcome}, 'RESOLVED', arguments_hash, attempts, 0,
            partial_side_effects, registry_version, trace_id, ${JSON.stringify({ comment })}::jsonb
          FROM resolved
        ), answered AS (
          UPDATE idempotency_keys AS key SET status = 'ended', outcome = ${JSON.stringify(RESOLVED[outcome])}
          FROM resolved
          WHERE key.tenant_id = resolved.tenant_id AND key.call_id = resolved.id AND key.status <> 'ended'
        )
        SELECT * FROM resolved`.execute(this.#database.db);
      const [row] = rows;
      if (row !== undefined) return { resolved: true, call: callOf(row) };
      const found = await this.#database.db
        .selectFrom('calls')
        .select('status')
        .where('id', '=', callId)
        .where('tenant_id', '=', tenantId)
        .executeTakeFirst();
      return found && { resolved: false, status: found.status };
    });
  }
}

/** What is shown of a call in a list: neither what it was asked with nor what it answered, which may be large. */
// prettier-ignore
const SUMMARY = [
  'id', 'tenant_id', 'kind', 'status', 'principal_id', 'agent_id', 'user_id', 'session_id', 'door', 'tool',
  'tool_version', 'executor', 'arguments_hash', 'error_type', 'reason', 'read_only', 'idempotent',
  'partial_side_effects', 'attempts', 'duration_ms', 'registry_version', 'trace_id', 'notes', 'created_at',
  'finished_at',
] as const;
type SummaryRow = Pick<Selectable<CallsTable>, (typeof SUMMARY)[number]>;

/** What whoever repeats the call's idempotency key hears from then on. */
const RESOLVED: Readonly<Record<Resolution['outcome'], StoredOutcome>> = {
  succeeded: { ok: true, dataJson: 'null', intents: [] },
  failed: {
    ok: false,
    error: {
      type: 'PERMANENT',
      message: 'An operator found out that this call failed.',
      retryable: false,
      partialSideEffects: true,
      origin: 'gateway',
      reason: 'RESOLVED',
      retryAfterMs: null,
      details: {},
    },
  },
};

/** Exact, where a Date would cut off a part of it. */
function microseconds(column: 'created_at' | 'at') {
  return sql<number>`(extract(epoch FROM ${sql.ref(column)}) * 1000000)::bigint`;
}

function before(time: 'created_at' | 'at', id: 'id' | 'event_id', after: HistoryPosition) {
  const at = sql`'epoch'::timestamptz + ${after.at}::double precision * interval '1 microsecond'`;
  return sql<boolean>`(${sql.ref(time)}, ${sql.ref(id)}) < (${at}, ${after.id})`;
}

function pageOf<Row extends { readonly position: number }, Item>(
  found: readonly Row[],
  limit: number,
  idOf: (row: Row) => string,
  itemOf: (row: Row) => Item,
): HistoryPage<Item> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const more = last !== undefined && found.length > limit;
  return { rows: rows.map(itemOf), ...(more && { next: { at: last.position, id: idOf(last) } }) };
}

function callerOf(row: Pick<Selectable<CallsTable>, 'principal_id' | 'agent_id' | 'user_id' | 'session_id'>) {
  return {
    principalId: row.principal_id,
    agentId: row.agent_id,
    userId: row.user_id,
    sessionId: row.session_id,
  };
}

function callOf(row: SummaryRow): CallSummary {
  return {
    ...callerOf(row),
    id: row.id,
    kind: row.kind,
    status: row.status,
    door: row.door,
    tool: row.tool,
    toolVersion: row.tool_version,
    executor: row.executor,
    argumentsHash: row.arguments_hash,
    errorType: row.error_type,
    reason: row.reason,
    readOnly: row.read_only,
    idempotent: row.idempotent,
    partialSideEffects: row.partial_side_effects,
    attempts: row.attempts,
    durationMs: row.duration_ms,
    registryVersion: row.registry_version,
    traceId: row.trace_id,
    notes: row.notes,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}

function entryOf(row: Selectable<AuditRecordsTable>): AuditEntry {
  return {
    ...callerOf(row),
    eventId: row.event_id,
    kind: row.kind,
    at: row.at,
    callId: row.call_id,
    door: row.door,
    requestedTool: row.requested_tool,
    tool: row.tool,
    toolVersion: row.tool_version,
    executor: row.executor,
    outcome: row.outcome,
    reason: row.reason,
    argumentsHash: row.arguments_hash,
    attempts: row.attempts,
    durationMs: row.duration_ms,
    partialSideEffects: row.partial_side_effects,
    registryVersion: row.registry_version,
    traceId: row.trace_id,
    notes: row.notes,
  };
}
