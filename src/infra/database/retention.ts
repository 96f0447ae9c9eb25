// Retention: rows that nobody needs any more go, a few at a time, so that no statement holds up another for long.
import { sql, type RawBuilder } from 'kysely';
import type { Database } from './database.ts';

/** Milliseconds that each kind of record is kept, from its end on. */
export interface RetentionPeriods {
  readonly calls: number;
  readonly callEvents: number;
  readonly audit: number;
  readonly approvals: number;
}

export type Deleted = Readonly<Record<string, number>>;

const BATCH = 1_000;
/** Of one table in one round; what is left goes in the next. */
const MAX_BATCHES = 50;
/** Any number, the same on every replica: who holds this lock of the database cleans up. */
const LOCK = 7_274_301;

/** One replica at a time; any other does nothing and gives an empty answer. */
export async function applyRetention(
  database: Pick<Database, 'db'>,
  periods: RetentionPeriods,
): Promise<Deleted> {
  const deleted: Record<string, number> = {};
  for (const [table, statement] of statementsOf(periods)) {
    const count = await inBatches(database, statement);
    if (count > 0) deleted[table] = count;
  }
  return deleted;
}

function statementsOf(periods: RetentionPeriods): readonly (readonly [string, RawBuilder<unknown>])[] {
  return [
    ['calls', oldest('calls', 'id', sql`finished_at < ${ago(periods.calls)}`)],
    [
      'call_events',
      sql`DELETE FROM call_events WHERE (call_id, seq) IN
        (SELECT call_id, seq FROM call_events WHERE at < ${ago(periods.callEvents)} LIMIT ${BATCH})`,
    ],
    [
      'idempotency_keys',
      sql`DELETE FROM idempotency_keys WHERE (tenant_id, principal_id, tool, key) IN
        (SELECT tenant_id, principal_id, tool, key FROM idempotency_keys
         WHERE expires_at <= now() AND (status <> 'in_progress' OR lease_expires_at <= now()) LIMIT ${BATCH})`,
    ],
    ['audit_records', oldest('audit_records', 'event_id', sql`recorded_at < ${ago(periods.audit)}`)],
    ['scheduled_tasks', oldest('scheduled_tasks', 'id', sql`finished_at < ${ago(periods.calls)}`)],
    ['approvals', oldest('approvals', 'id', sql`expires_at < ${ago(periods.approvals)}`)],
  ];
}

function oldest(table: string, key: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  const [from, id] = [sql.table(table), sql.ref(key)];
  return sql`DELETE FROM ${from} WHERE ${id} IN (SELECT ${id} FROM ${from} WHERE ${condition} LIMIT ${BATCH})`;
}

function ago(ms: number): RawBuilder<unknown> {
  return sql`now() - ${ms}::double precision * interval '1 millisecond'`;
}

async function inBatches({ db }: Pick<Database, 'db'>, statement: RawBuilder<unknown>): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const count = await db.transaction().execute(async (trx) => {
      const { rows } = await sql<{
        held: boolean;
      }>`SELECT pg_try_advisory_xact_lock(${LOCK}) AS held`.execute(trx);
      if (rows[0]?.held !== true) return 0;
      const { numAffectedRows = 0n } = await statement.execute(trx);
      return Number(numAffectedRows);
    });
    total += count;
    if (count < BATCH) break;
  }
  return total;
}
