// SqlCallHistory: calls and audit records, and the end that a human gives to an unknown one.
import { sql } from 'kysely';
import type { AnalyticsQuery, CallAnalytics } from '../../ports/calls/call-analytics.ts';
import type {
  AuditEntry,
  AuditFilter,
  CallFilter,
  CallHistory,
  CallSummary,
  Erased,
  Erasure,
  HistoryPage,
  HistoryQuery,
  Resolution,
  ResolveOutcome,
  TaskFilter,
} from '../../ports/calls/call-history.ts';
import type { CallSequences, SequencesQuery } from '../../ports/calls/call-sequences.ts';
import type { StoredCall } from '../../ports/calls/call-store.ts';
import type { StoredOutcome } from '../../ports/idempotency-store.ts';
import { uuidv7 } from '../../lib/ids.ts';
import { columns } from '../postgres/columns.ts';
import type { Database } from '../postgres/database.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import { auditPage } from '../audit/trail/audit-page.ts';
import { eraseUser } from '../audit/erasure/erase-user.ts';
import { exportChain } from '../audit/trail/export-chain.ts';
import { CallFigures } from './call-figures.ts';
import { getCall } from './call-operations.ts';
import { CALL_SUMMARY, callsPage } from './calls-page.ts';
import { tasksPage } from './tasks-page.ts';

const DAY_MS = 86_400_000;
/** Older than any record. */
const MAX_AGE_MS = 36_500 * DAY_MS;

export class SqlCallHistory implements CallHistory {
  readonly #database: Pick<Database, 'db' | 'owner'>;

  readonly #callsKeptMs: number;
  /** Where lists are read. */
  readonly #lists: Database['db'];
  readonly #figures: CallFigures;

  /**
   * `callsKeptMs`: for how long calls are in the history, which may be shorter than for their audit records. `lists`: a read
   * replica; left out: the database itself.
   */
  constructor(
    database: Pick<Database, 'db' | 'owner'>,
    callsKeptMs = 30 * DAY_MS,
    lists: Database['db'] = database.db,
  ) {
    this.#database = database;
    this.#callsKeptMs = callsKeptMs;
    this.#lists = lists;
    this.#figures = new CallFigures(lists);
  }

  calls(tenantId: string, query: HistoryQuery<CallFilter>): Promise<HistoryPage<CallSummary>> {
    const since = new Date(Date.now() - Math.min(this.#callsKeptMs, MAX_AGE_MS));
    return withDatabase(() => callsPage(this.#lists, tenantId, since, query));
  }

  tasks(tenantId: string, query: HistoryQuery<TaskFilter>): Promise<HistoryPage<StoredCall>> {
    return withDatabase(() => tasksPage(this.#lists, tenantId, query));
  }

  audit(tenantId: string, query: HistoryQuery<AuditFilter>): Promise<HistoryPage<AuditEntry>> {
    return withDatabase(() => auditPage(this.#lists, tenantId, query));
  }

  analytics(tenantId: string, query: AnalyticsQuery): Promise<CallAnalytics> {
    return withDatabase(() => this.#figures.of(tenantId, query));
  }

  sequences(tenantId: string, query: SequencesQuery): Promise<CallSequences> {
    return withDatabase(() => this.#figures.sequences(tenantId, query));
  }

  exportChain(tenantId: string, after: number, limit: number): Promise<readonly string[]> {
    return withDatabase(() => exportChain(this.#lists, tenantId, after, limit));
  }

  eraseUser(erasure: Erasure): Promise<Erased> {
    return withDatabase(() => eraseUser(this.#database, erasure));
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
          INSERT INTO audit_inbox (record)
          SELECT json_build_object('event_id', ${uuidv7(Date.now())}::text, 'kind', 'resolution', 'at', now(), 'call_id', id,
            'door', 'rest', 'principal_id', ${by}::text, 'tenant_id', tenant_id, 'agent_id', agent_id, 'user_id', user_id,
            'session_id', session_id, 'tool', tool, 'tool_version', tool_version, 'executor', executor,
            'outcome', ${outcome}::text, 'reason', 'RESOLVED', 'arguments_hash', arguments_hash, 'attempts', attempts,
            'partial_side_effects', partial_side_effects, 'registry_version', registry_version, 'trace_id', trace_id,
            'notes', ${JSON.stringify({ comment })}::json)::text
          FROM resolved
        ), answered AS (
          UPDATE idempotency_keys AS key SET status = 'ended', outcome = ${JSON.stringify(RESOLVED[outcome])}
          FROM resolved
          WHERE key.tenant_id = resolved.tenant_id AND key.call_id = resolved.id AND key.status <> 'ended'
        )
        SELECT ${columns(CALL_SUMMARY)} FROM resolved`.execute(this.#database.db);
      const [row] = rows;
      if (row !== undefined) return { resolved: true, call: row };
      const found = await getCall(this.#database.db, tenantId, callId);
      return found && { resolved: false, status: found.status };
    });
  }
}

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
