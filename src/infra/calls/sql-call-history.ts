// SqlCallHistory: calls and audit records, page by page from the newest back; and the end that a human gives to an unknown one.
import { sql } from 'kysely';
import type {
  AuditEntry,
  AuditFilter,
  CallFilter,
  CallHistory,
  CallSummary,
  HistoryPage,
  HistoryQuery,
  Resolution,
  ResolveOutcome,
} from '../../ports/calls/call-history.ts';
import type { StoredOutcome } from '../../ports/idempotency-store.ts';
import { uuidv7 } from '../../lib/ids.ts';
import { column, columns } from '../postgres/columns.ts';
import type { Database } from '../postgres/database.ts';
import { withDatabase } from '../postgres/database-failures.ts';

export class SqlCallHistory implements CallHistory {
  readonly #database: Pick<Database, 'db'>;

  constructor(database: Pick<Database, 'db'>) {
    this.#database = database;
  }

  calls(tenantId: string, query: HistoryQuery<CallFilter>): Promise<HistoryPage<CallSummary>> {
    return withDatabase(() => pageOf(this.#database.db, CALLS, tenantId, query));
  }

  audit(tenantId: string, query: HistoryQuery<AuditFilter>): Promise<HistoryPage<AuditEntry>> {
    return withDatabase(() => pageOf(this.#database.db, RECORDS, tenantId, query));
  }

  resolve(
    tenantId: string,
    callId: string,
    { outcome, comment, by }: Resolution,
  ): Promise<ResolveOutcome | undefined> {
    const resolution = JSON.stringify({ resolution: { outcome, comment, by } });
    return withDatabase(async () => {
      const { rows } = await sql<CallSummary>`
        WITH resolved AS (
          UPDATE calls SET status = ${outcome}, reason = 'RESOLVED',
            error_type = CASE WHEN ${outcome} = 'succeeded' THEN NULL ELSE error_type END,
            notes = COALESCE(notes, '{}') || ${resolution}::jsonb
          WHERE id = ${callId} AND tenant_id = ${tenantId} AND status = 'outcome_unknown'
          RETURNING *
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
        SELECT ${columns(SUMMARY)} FROM resolved`.execute(this.#database.db);
      const [row] = rows;
      if (row !== undefined) return { resolved: true, call: row };
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
  'id', 'kind', 'status', 'principalId', 'agentId', 'userId', 'sessionId', 'door', 'tool', 'toolVersion', 'executor',
  'argumentsHash', 'errorType', 'reason', 'readOnly', 'idempotent', 'partialSideEffects', 'attempts', 'durationMs',
  'registryVersion', 'traceId', 'notes', 'createdAt', 'finishedAt',
] as const satisfies readonly (keyof CallSummary)[];
// prettier-ignore
const ENTRY = [
  'eventId', 'kind', 'at', 'callId', 'door', 'principalId', 'agentId', 'userId', 'sessionId', 'requestedTool', 'tool',
  'toolVersion', 'executor', 'outcome', 'reason', 'argumentsHash', 'attempts', 'durationMs', 'partialSideEffects',
  'registryVersion', 'traceId', 'notes',
] as const satisfies readonly (keyof AuditEntry)[];

/** A table that is read page by page: by the time of its rows, and their ids where that is the same. */
interface Listed<Row, Filter> {
  readonly table: 'calls' | 'audit_records';
  readonly names: readonly (keyof Row & string)[];
  readonly time: string;
  readonly id: keyof Row & string;
  /** What has to be equal, where it is asked for. */
  readonly filters: readonly (keyof Filter & string)[];
}

const CALLS: Listed<CallSummary, CallFilter> = {
  table: 'calls',
  names: SUMMARY,
  time: 'created_at',
  id: 'id',
  filters: ['tool', 'status', 'errorType', 'agentId', 'sessionId'],
};
const RECORDS: Listed<AuditEntry, AuditFilter> = {
  table: 'audit_records',
  names: ENTRY,
  time: 'at',
  id: 'eventId',
  filters: ['kind', 'callId', 'tool', 'outcome', 'principalId'],
};

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

async function pageOf<Row, Filter extends CallFilter | AuditFilter>(
  db: Database['db'],
  { table, names, time, id, filters }: Listed<Row, Filter>,
  tenantId: string,
  { filter, limit, after }: HistoryQuery<Filter>,
): Promise<HistoryPage<Row>> {
  const at = sql.ref(time);
  const wanted = [sql`tenant_id = ${tenantId}`];
  for (const name of filters) {
    if (filter[name] !== undefined) wanted.push(sql`${column(name)} = ${filter[name]}`);
  }
  if (filter.from !== undefined) wanted.push(sql`${at} >= ${filter.from}`);
  if (filter.to !== undefined) wanted.push(sql`${at} < ${filter.to}`);
  if (after !== undefined)
    wanted.push(sql`(${at}, ${column(id)}) <
      ('epoch'::timestamptz + ${after.at}::double precision * interval '1 microsecond', ${after.id})`);
  // Microseconds: exact, where a Date would cut off a part of it.
  const { rows: found } = await sql<Row & { readonly position: number }>`
    SELECT ${columns<Row>(names)}, (extract(epoch FROM ${at}) * 1000000)::bigint AS position
    FROM ${sql.table(table)} WHERE ${sql.join(wanted, sql` AND `)}
    ORDER BY ${at} DESC, ${column(id)} DESC LIMIT ${limit + 1}`.execute(db);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    rows: rows.map(({ position: _position, ...row }) => row as Row),
    ...(last && { next: { at: last.position, id: String(last[id]) } }),
  };
}
