// Tools that sessions called one after another, counted by one statement over the audit trail, as figures of calls are.
import { sql } from 'kysely';
import type { CallSequence, CallSequences, SequencesQuery } from '../../ports/calls/call-sequences.ts';
import type { Database } from '../postgres/database.ts';
import { recordsOf } from './count-calls.ts';

/** What one person did is told to nobody, and twice is no habit. */
const LEAST_SESSIONS = 3;
/** Of each length. */
const MOST_SEQUENCES = 2_000;

/** Each is the beginning of up to five sequences: two seconds of counting where no two are alike. */
const MOST_SUCCESSES = 50_000;

interface SequenceRow extends Omit<CallSequence, 'tools'> {
  /** Null: there are none. */
  readonly tools: readonly string[] | null;
  /** Records that were read, and the oldest of them. */
  readonly seen: number;
  readonly firstAt: Date | null;
}

export async function countSequences(
  db: Database['db'],
  tenantId: string,
  query: SequencesQuery,
  mostRecords: number,
): Promise<CallSequences> {
  const records = Math.min(mostRecords, MOST_SUCCESSES);
  // Steps of composite tools are left out: somebody has put them together already.
  const wanted = [
    ...recordsOf(tenantId, query),
    sql`kind = 'outcome' AND outcome = 'ok' AND tool IS NOT NULL AND session_id IS NOT NULL`,
    sql`(notes IS NULL OR NOT jsonb_exists(notes, 'parent_call_id'))`,
  ];
  const { rows } = await sql<SequenceRow>`
    WITH ends AS MATERIALIZED (
      SELECT at, call_id, tool, ROW(session_id, coalesce(agent_id, ''), coalesce(principal_id, ''))::text AS session
      FROM audit_trail WHERE ${sql.join(wanted, sql` AND `)} ORDER BY at DESC LIMIT ${records}
    ), ordered AS (
      SELECT *, lag(tool) OVER (PARTITION BY session ORDER BY at, call_id) AS before FROM ends
    ), ahead AS MATERIALIZED (
      SELECT session, ARRAY[tool, lead(tool) OVER s, lead(tool, 2) OVER s, lead(tool, 3) OVER s, lead(tool, 4) OVER s] AS tools
      FROM ordered WHERE before IS DISTINCT FROM tool WINDOW s AS (PARTITION BY session ORDER BY at, call_id)
    ), counted AS (
      SELECT tools[1:length] AS tools, length, count(DISTINCT session) AS sessions, count(*) AS calls
      FROM ahead CROSS JOIN generate_series(1, 5) AS length WHERE tools[length] IS NOT NULL
      GROUP BY 1, 2 HAVING count(DISTINCT session) >= ${LEAST_SESSIONS}
    ), placed AS (
      SELECT *, row_number() OVER (PARTITION BY length ORDER BY sessions DESC, calls DESC, tools) AS place FROM counted
    )
    SELECT tools, sessions, calls, seen, "firstAt"
    FROM (SELECT count(*) AS seen, min(at) AS "firstAt" FROM ends) AS read
      LEFT JOIN placed ON place <= ${MOST_SEQUENCES} ORDER BY sessions DESC, calls DESC, length, tools`.execute(
    db,
  );
  const [first] = rows;
  const isComplete = (first?.seen ?? 0) < records;
  return {
    isComplete,
    countedFrom: isComplete ? query.from : (first?.firstAt ?? query.from),
    sequences: rows.flatMap(({ tools, sessions, calls }) =>
      tools === null ? [] : [{ tools, sessions, calls }],
    ),
  };
}
