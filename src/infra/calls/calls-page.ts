// A page of the call history, newest first: calls that have a row of their own, and synchronous ones by the record of their end.
import { sql, type RawBuilder } from 'kysely';
import type { CallFilter, CallSummary, HistoryPage, HistoryQuery } from '../../ports/calls/call-history.ts';
import { column, columns } from '../postgres/columns.ts';
import type { Database } from '../postgres/database.ts';

/** What is shown of a call in a list: neither what it was asked with nor what it answered, which may be large. */
// oxfmt-ignore
export const CALL_SUMMARY = [
  'id', 'kind', 'status', 'principalId', 'agentId', 'userId', 'sessionId', 'door', 'tool', 'toolVersion', 'executor',
  'argumentsHash', 'errorType', 'reason', 'readOnly', 'idempotent', 'partialSideEffects', 'attempts', 'durationMs',
  'registryVersion', 'traceId', 'notes', 'createdAt', 'finishedAt',
] as const satisfies readonly (keyof CallSummary)[];

type Shown = (typeof CALL_SUMMARY)[number];
const empty = (name: string) => sql`coalesce(${sql.ref(name)}, '')`;
const no = (name: string) => sql`coalesce(${sql.ref(name)}, false)`;

/** The same of the record of its end. A field that says nothing is null there. */
export const OF_RECORD: { readonly [Name in Shown]: RawBuilder<unknown> } = {
  id: sql.ref('call_id'),
  kind: sql.ref('call_kind'),
  status: sql`CASE outcome WHEN 'ok' THEN 'succeeded' WHEN 'CANCELLED' THEN 'cancelled'
    WHEN 'OUTCOME_UNKNOWN' THEN 'outcome_unknown' ELSE 'failed' END`,
  principalId: empty('principal_id'),
  agentId: empty('agent_id'),
  userId: empty('user_id'),
  sessionId: empty('session_id'),
  door: empty('door'),
  tool: sql`coalesce(tool, requested_tool, '')`,
  toolVersion: empty('tool_version'),
  executor: empty('executor'),
  argumentsHash: sql`coalesce(encode(arguments_hash, 'hex'), '')`,
  errorType: sql`nullif(outcome, 'ok')`,
  reason: sql.ref('reason'),
  readOnly: no('read_only'),
  idempotent: no('idempotent'),
  partialSideEffects: no('partial_side_effects'),
  attempts: sql`coalesce(attempts, 0)`,
  durationMs: sql`coalesce(duration_ms, 0)`,
  registryVersion: empty('registry_version'),
  traceId: empty('trace_id'),
  notes: sql.ref('notes'),
  createdAt: sql.ref('at'),
  finishedAt: sql`at + coalesce(duration_ms, 0) * interval '1 millisecond'`,
};

/** Of `audit_trail`: the record of the end of a call that has no row of its own. */
export const IS_CALL = sql`kind = 'outcome' AND call_kind IS NOT NULL
  AND NOT EXISTS (SELECT FROM calls WHERE calls.id = audit_trail.call_id)`;

const FILTERS = [
  'tool',
  'status',
  'errorType',
  'agentId',
  'sessionId',
] as const satisfies readonly (keyof CallFilter)[];
/** By how much the clock of a gateway may be ahead of the database's. */
const SLACK_MS = 86_400_000;

/** `since`: the oldest record that is looked at. A time, not an expression of one: so other days are left out at once. */
export async function callsPage(
  db: Database['db'],
  tenantId: string,
  since: Date,
  { filter, limit, after }: HistoryQuery<CallFilter>,
): Promise<HistoryPage<CallSummary>> {
  const wanted = (
    at: RawBuilder<unknown>,
    id: RawBuilder<unknown>,
    of: (name: Shown) => RawBuilder<unknown>,
  ) => {
    const all = [sql`tenant_id = ${tenantId}`];
    for (const name of FILTERS) if (filter[name] !== undefined) all.push(sql`${of(name)} = ${filter[name]}`);
    if (filter.from !== undefined) all.push(sql`${at} >= ${filter.from}`);
    if (filter.to !== undefined) all.push(sql`${at} < ${filter.to}`);
    if (after !== undefined) {
      const moment = sql`'epoch'::timestamptz + ${after.at}::double precision * interval '1 microsecond'`;
      all.push(sql`${at} <= ${moment} AND (${at}, ${id}) < (${moment}, ${after.id})`);
    }
    return sql.join(all, sql` AND `);
  };
  const oldest = new Date(Math.max(since.getTime(), (filter.from?.getTime() ?? 0) - SLACK_MS));
  const ofRecord = sql.join(CALL_SUMMARY.map((name) => sql`${OF_RECORD[name]} AS ${sql.ref(name)}`));
  // Microseconds: exact, where a Date would cut off a part of it.
  const { rows: found } = await sql<CallSummary & { readonly position: number }>`
    SELECT *, (extract(epoch FROM "createdAt") * 1000000)::bigint AS position FROM (
      (SELECT ${columns(CALL_SUMMARY)} FROM calls
        WHERE ${wanted(sql.ref('created_at'), sql.ref('id'), column)}
        ORDER BY created_at DESC, id DESC LIMIT ${limit + 1})
      UNION ALL
      (SELECT ${ofRecord} FROM audit_trail
        WHERE ${wanted(sql.ref('at'), sql.ref('call_id'), (name) => OF_RECORD[name])}
          AND recorded_at >= ${oldest} AND ${IS_CALL}
        ORDER BY at DESC, call_id DESC LIMIT ${limit + 1})
    ) AS listed ORDER BY "createdAt" DESC, id DESC LIMIT ${limit + 1}`.execute(db);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    rows: rows.map(({ position: _position, ...row }) => row),
    ...(last && { next: { at: last.position, id: last.id } }),
  };
}
