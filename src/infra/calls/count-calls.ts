// Calls counted by one statement over the audit trail: by its index of tenant and time, the newest records first, up to a number.
import { sql, type RawBuilder } from 'kysely';
import type {
  AnalyticsQuery,
  CallAnalytics,
  CallCounts,
  FailureCount,
} from '../../ports/calls/call-analytics.ts';
import type { Database } from '../postgres/database.ts';

/** Half a second of reading, and some seconds of a slow disk. */
export const MOST_RECORDS = 200_000;
/** By how much the clock of a gateway may be ahead of the database's. */
const AHEAD_MS = 86_400_000;
/** A record that came later into the database, out of a journal, is not looked for. */
const LATE_MS = 2 * 86_400_000;
/** Of tools that were called, some may be gone since. */
const MOST_TOOLS = 20_000;

/** Of GROUPING(tool, agent, day, outcome): a bit for each that a row is not of. */
const SETS: Readonly<Record<number, 'all' | 'tool' | 'agent' | 'day' | 'failure'>> = {
  15: 'all',
  7: 'tool',
  11: 'agent',
  13: 'day',
  6: 'failure',
};

interface CountedRow extends Omit<CallCounts, 'meanMs' | 'p50Ms' | 'p95Ms' | 'p99Ms' | 'maxMs'> {
  readonly set: number;
  readonly tool: string | null;
  readonly agent: string | null;
  readonly day: string | null;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly mean: number | null;
  readonly percentiles: readonly number[] | null;
  readonly max: number | null;
  readonly firstAt: Date | null;
  /** Records that were read. */
  readonly seen: number;
}

export async function countCalls(
  db: Database['db'],
  tenantId: string,
  query: AnalyticsQuery,
  mostRecords: number,
): Promise<CallAnalytics> {
  const { rows } = await statementOf(tenantId, query, mostRecords).execute(db);
  const of = (set: (typeof SETS)[number]) => rows.filter((row) => SETS[row.set] === set);
  const [all] = of('all');
  const totals = all === undefined ? NOTHING : countsOf(all);
  const isComplete = (all?.seen ?? 0) < mostRecords;
  return {
    totals,
    isComplete,
    countedFrom: isComplete ? query.from : (all?.firstAt ?? query.from),
    byTool: of('tool').flatMap((row) => (row.tool === null ? [] : [{ tool: row.tool, ...countsOf(row) }])),
    byAgent: of('agent').map((row) => ({ agentId: row.agent ?? '', ...countsOf(row) })),
    byDay: of('day')
      .map((row) => ({ day: row.day ?? '', ...countsOf(row) }))
      .toSorted((a, b) => (a.day < b.day ? -1 : 1)),
    failures: of('failure').map(failureOf),
  };
}

/** Conditions on the audit trail: whose records, and of which time. */
export function recordsOf(
  tenantId: string,
  { from, to, agentId }: Pick<AnalyticsQuery, 'from' | 'to' | 'agentId'>,
): RawBuilder<unknown>[] {
  return [
    sql`tenant_id = ${tenantId} AND at >= ${from} AND at < ${to}`,
    // A day is a partition: the others are left out at once.
    sql`recorded_at >= ${new Date(from.getTime() - AHEAD_MS)} AND recorded_at < ${new Date(to.getTime() + LATE_MS)}`,
    ...(agentId === undefined ? [] : [sql`agent_id = ${agentId}`]),
  ];
}

/** An end that turned up after its call had been given up counts, and the giving up does not. */
function statementOf(tenantId: string, query: AnalyticsQuery, mostRecords: number): RawBuilder<CountedRow> {
  const wanted = [...recordsOf(tenantId, query), sql`kind IN ('outcome', 'reconciled')`];
  if (query.tool !== undefined) wanted.push(sql`tool = ${query.tool}`);
  const prices = JSON.stringify(Object.fromEntries(query.costs));
  return sql<CountedRow>`
    WITH ends AS MATERIALIZED (
      SELECT at, kind, call_id, tool, coalesce(agent_id, '') AS agent, coalesce(outcome, '') AS outcome,
        coalesce(reason, '') AS reason, coalesce(attempts, 0) > 0 AS ran, coalesce(duration_ms, 0) AS ms
      FROM audit_trail WHERE ${sql.join(wanted, sql` AND `)} ORDER BY at DESC LIMIT ${mostRecords}
    ), prices AS MATERIALIZED (
      SELECT key, value::double precision AS cost FROM json_each_text(${prices}::json)
    ), lost AS MATERIALIZED (
      SELECT call_id FROM ends WHERE kind = 'reconciled'
    ), counted AS (
      SELECT ends.*, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, coalesce(prices.cost, 0) AS cost
      FROM ends LEFT JOIN prices ON prices.key = ends.tool
      WHERE kind = 'outcome' OR call_id NOT IN (
        SELECT found.call_id FROM ends AS found JOIN lost ON lost.call_id = found.call_id WHERE found.kind = 'outcome')
    ), grouped AS (
      SELECT GROUPING(tool, agent, day, outcome) AS set, tool, agent, day, outcome, reason,
        count(*) AS calls,
        count(*) FILTER (WHERE outcome = 'ok') AS succeeded,
        count(*) FILTER (WHERE outcome NOT IN ('ok', 'CONFIRMATION_REQUIRED')) AS failed,
        count(*) FILTER (WHERE outcome = 'CONFIRMATION_REQUIRED') AS unapproved,
        count(*) FILTER (WHERE ran) AS ran,
        avg(ms) FILTER (WHERE ran) AS mean,
        percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY ms) FILTER (WHERE ran) AS percentiles,
        max(ms) FILTER (WHERE ran) AS max,
        coalesce(sum(cost) FILTER (WHERE ran), 0) AS cost,
        max(at) AS "lastAt", min(at) AS "firstAt"
      FROM counted GROUP BY GROUPING SETS ((), (tool), (agent), (day), (tool, outcome, reason))
    )
    SELECT *, (SELECT count(*) FROM ends) AS seen FROM (
      SELECT *, row_number() OVER (PARTITION BY set ORDER BY calls DESC, tool, agent, reason) AS place FROM grouped
      WHERE set <> 6 OR outcome NOT IN ('ok', 'CONFIRMATION_REQUIRED')
    ) AS placed WHERE place <= CASE set WHEN 7 THEN ${MOST_TOOLS}::int ELSE greatest(${query.most}::int, 1) END OR set = 13
    ORDER BY set, place`;
}

const NOTHING: CallCounts = {
  calls: 0,
  succeeded: 0,
  failed: 0,
  unapproved: 0,
  ran: 0,
  meanMs: null,
  p50Ms: null,
  p95Ms: null,
  p99Ms: null,
  maxMs: null,
  cost: 0,
  lastAt: null,
};

function countsOf(row: CountedRow): CallCounts {
  const { calls, succeeded, failed, unapproved, ran, mean, percentiles, max, cost, lastAt } = row;
  const [p50, p95, p99] = percentiles ?? [];
  return {
    calls,
    succeeded,
    failed,
    unapproved,
    ran,
    cost,
    lastAt,
    meanMs: mean,
    p50Ms: p50 ?? null,
    p95Ms: p95 ?? null,
    p99Ms: p99 ?? null,
    maxMs: max,
  };
}

function failureOf({ tool, outcome, reason, calls, lastAt }: CountedRow): FailureCount {
  const at = lastAt ?? new Date(0);
  return { tool: tool ?? '', errorType: outcome ?? '', reason: reason ?? '', calls, lastAt: at };
}
