// The days of the audit trail: each is a partition, made ahead, dropped as a whole, and looked at some at a time.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../../postgres/database.ts';
import type { Tables } from '../../postgres/tables.ts';

const DAY_MS = 86_400_000;
const AHEAD = 7;
/** Each table and each of its indexes is locked by who reads it: no statement reads more days than that. */
const AT_ONCE = 16;

/** As PostgreSQL names them: 20260131, oldest first. One of a year of five digits would stand among others, and hide them. */
export async function trailDays({ db }: Pick<Database, 'db'>): Promise<readonly string[]> {
  const { rows } = await sql<{ day: string }>`
    SELECT right(c.relname, 8) AS day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'audit_trail'::regclass AND c.relname ~ '^audit_trail_[0-9]{8}$' ORDER BY c.relname`.execute(
    db,
  );
  return rows.map(({ day }) => day);
}

export interface Window {
  readonly from: Date;
  readonly to: Date;
}

/** All days from `oldest` to `newest`, in pieces, oldest first. */
export function windowsOf(days: readonly string[], oldest = -Infinity, newest = Infinity): readonly Window[] {
  const wanted = days.map(startOf).filter((start) => start + DAY_MS > oldest && start <= newest);
  const windows: Window[] = [];
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const [first = 0, last = 0] = [wanted[at], wanted[Math.min(at + AT_ONCE, wanted.length) - 1]];
    windows.push({ from: new Date(first), to: new Date(last + DAY_MS) });
  }
  return windows;
}

/** For the days to come: no writer has to wait for a partition. */
export async function makeDaysAhead({ db }: Pick<Database, 'db'>): Promise<void> {
  await sql`SELECT audit_partition((now() AT TIME ZONE 'UTC')::date + n)
    FROM generate_series(0, ${AHEAD}::integer) AS n`.execute(db);
}

/** Whole days of which nothing is younger than that, by the owner of the tables. Gives the days that went. */
export async function dropOldDays(
  { owner: db }: Pick<Database, 'owner'>,
  keptMs: number,
): Promise<readonly string[]> {
  if (!Number.isFinite(keptMs)) return [];
  const { rows } = await sql<{ now: Date }>`SELECT now() AS now`.execute(db);
  const oldest = (rows[0]?.now.getTime() ?? 0) - keptMs;
  const old = (await trailDays({ db })).filter((day) => startOf(day) + DAY_MS <= oldest);
  for (const day of old)
    await db.transaction().execute(async (trx) => {
      // Who writes or reads goes first: it is tried again in a minute.
      await sql`SET LOCAL lock_timeout = '2s'`.execute(trx);
      await rememberEnds(trx, `audit_trail_${day}`);
      await sql`DROP TABLE IF EXISTS ${sql.table(`audit_trail_${day}`)}`.execute(trx);
    });
  return old;
}

/**
 * What the next record of each chain is chained to: without it, nobody could check that one. Of numbers that the chain has reached: a
 * row that somebody put there with a larger one is no record of it.
 */
async function rememberEnds(trx: Transaction<Tables>, day: string): Promise<void> {
  await sql`UPDATE audit_chains AS chain SET dropped_seq = latest.seq, dropped_hash = latest.hash
    FROM (SELECT c.tenant_id, last.seq, last.hash FROM audit_chains AS c CROSS JOIN LATERAL (
        SELECT seq, hash FROM ${sql.table(day)} AS r WHERE r.tenant_id = c.tenant_id AND r.seq <= c.seq ORDER BY seq DESC LIMIT 1) AS last) AS latest
    WHERE chain.tenant_id = latest.tenant_id AND latest.seq > chain.dropped_seq`.execute(trx);
}

function startOf(day: string): number {
  return Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
}
