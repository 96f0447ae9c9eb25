// Retention: rows that nobody needs any more go, a few at a time, so that no statement holds up another for long.
import { sql, type RawBuilder } from 'kysely';
import { pause } from '../../lib/timers/pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Database } from '../postgres/database.ts';

/** Milliseconds that each kind of record is kept, from its end on. */
export interface RetentionPeriods {
  readonly calls: number;
  readonly callEvents: number;
  readonly audit: number;
  readonly approvals: number;
  readonly sessions: number;
  readonly revokedKeys: number;
}

/** How long it may go on while there is more. */
export interface RetentionBounds {
  readonly clock: Clock;
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

export interface Retained {
  /** Rows that went, by table; none of tables that lost none. */
  readonly deleted: Readonly<Record<string, number>>;
  /** By how many seconds the oldest row has outlived its time, of tables where there was no time for all. */
  readonly overdue: Readonly<Record<string, number>>;
}

interface Kind {
  readonly table: string;
  readonly key: readonly string[];
  /** When it was old enough to begin to count. */
  readonly age: string;
  readonly keptMs: number;
  readonly unless?: RawBuilder<unknown>;
}

const DAY_MS = 86_400_000;
/** Of one statement. */
const BATCH = 1_000;
/** Any number, the same on every replica: who holds this lock of the database cleans up. */
const LOCK = 7_274_301;

export const RETAINED_TABLES = kindsOf({
  calls: 0,
  callEvents: 0,
  audit: 0,
  approvals: 0,
  revokedKeys: 0,
  sessions: 0,
}).map(({ table }) => table);

/**
 * As the owner of the tables, until nothing is left that is too old, or its time is over; tables take turns, and each has at least one. Between two statements it rests for as
 * long as the last one took: calls go first. One replica at a time; any other does nothing and gives an empty answer.
 */
export async function applyRetention(
  { owner: db }: Pick<Database, 'owner'>,
  periods: RetentionPeriods,
  { clock, withinMs, signal }: RetentionBounds,
): Promise<Retained> {
  const giveUpAt = clock.now() + withinMs;
  const deleted: Record<string, number> = {};
  let left = kindsOf(periods);
  while (left.length > 0 && !signal.aborted) {
    const more: Kind[] = [];
    for (const kind of left) {
      const startedAt = clock.now();
      const count = await deleteSome({ db }, kind);
      if (count > 0) deleted[kind.table] = (deleted[kind.table] ?? 0) + count;
      if (count < BATCH) continue;
      more.push(kind);
      await pause(clock, clock.now() - startedAt, signal);
    }
    left = more;
    if (clock.now() >= giveUpAt) break;
  }
  const overdue: Record<string, number> = {};
  if (!signal.aborted) for (const kind of left) overdue[kind.table] = await overdueSeconds({ db }, kind);
  return { deleted, overdue };
}

function kindsOf({
  calls,
  callEvents,
  audit,
  approvals,
  revokedKeys,
  sessions,
}: RetentionPeriods): readonly Kind[] {
  return [
    { table: 'calls', key: ['id'], age: 'finished_at', keptMs: calls },
    { table: 'call_events', key: ['call_id', 'seq'], age: 'at', keptMs: callEvents },
    {
      table: 'idempotency_keys',
      key: ['tenant_id', 'principal_id', 'tool', 'key', 'caller_hash'],
      age: 'expires_at',
      keptMs: 0,
      unless: sql`status = 'in_progress' AND lease_expires_at > now()`,
    },
    { table: 'audit_records', key: ['event_id'], age: 'recorded_at', keptMs: audit },
    { table: 'audit_checkpoints', key: ['tenant_id', 'seq'], age: 'at', keptMs: audit },
    { table: 'scheduled_tasks', key: ['id'], age: 'finished_at', keptMs: calls },
    { table: 'approvals', key: ['id'], age: 'expires_at', keptMs: approvals },
    { table: 'sessions', key: ['id'], age: 'over_at', keptMs: sessions },
    {
      table: 'session_registries',
      key: ['hash'],
      age: 'needed_at',
      keptMs: DAY_MS,
      unless: sql`EXISTS (SELECT 1 FROM sessions WHERE registry_hash = session_registries.hash)`,
    },
    { table: 'api_keys', key: ['id'], age: 'revoked_at', keptMs: revokedKeys },
  ];
}

function isOld({ age, keptMs, unless = sql`false` }: Kind): RawBuilder<unknown> {
  return sql`${sql.ref(age)} <= now() - ${keptMs}::double precision * interval '1 millisecond' AND NOT (${unless})`;
}

/** A row that somebody is changing at this moment is left: it may be no old one any more. */
function deleteSome({ db }: Pick<Database, 'db'>, kind: Kind): Promise<number> {
  const table = sql.table(kind.table);
  const key = sql.join(kind.key.map((column) => sql.ref(column)));
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{
      held: boolean;
    }>`SELECT pg_try_advisory_xact_lock(${LOCK}) AS held`.execute(trx);
    if (rows[0]?.held !== true) return 0;
    const { numAffectedRows = 0n } = await sql`DELETE FROM ${table} WHERE (${key}) IN
      (SELECT ${key} FROM ${table} WHERE ${isOld(kind)} LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`.execute(trx);
    return Number(numAffectedRows);
  });
}

async function overdueSeconds({ db }: Pick<Database, 'db'>, kind: Kind): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    SELECT extract(epoch FROM now() - min(${sql.ref(kind.age)}))::float8 - ${kind.keptMs / 1_000}::float8 AS seconds
    FROM ${sql.table(kind.table)} WHERE ${isOld(kind)}`.execute(db);
  return Math.max(0, rows[0]?.seconds ?? 0);
}
