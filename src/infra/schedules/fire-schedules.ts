// Fires schedules that are due: in one transaction each of their moments becomes a call, and they wait for the next one.
import { sql, type Kysely, type Selectable } from 'kysely';
import type { NewCall } from '../../ports/calls/call-store.ts';
import type { DueSchedule, Fired, FireTerms, FiringPlan } from '../../ports/calls/schedule-store.ts';
import { insertCalls } from '../calls/call-rows.ts';
import { scheduleOf, type Now } from './schedule-rows.ts';
import type { ScheduledTasksTable, Tables } from '../postgres/tables.ts';

type Db = Kysely<Tables>;

export function fireSchedules(
  db: Db,
  { limit, maxQueued, now }: FireTerms & { readonly now: Now },
  plan: (due: DueSchedule) => FiringPlan,
): Promise<readonly Fired[]> {
  return db.transaction().execute(async (trx) => {
    const rows = await lockDue(trx, limit, now);
    if (rows.length === 0) return [];
    // Asked after the lock: what another replica has just made of the same schedule is seen.
    const busy = await unfinished(
      trx,
      rows.map(({ id }) => id),
    );
    const waiting = await countWaiting(
      trx,
      rows.map((row) => row.tenant_id),
    );
    const fired: Fired[] = [];
    const made: NewCall[] = [];
    for (const row of rows) {
      const { tenant_id: tenant, fired_at: firedAt } = row;
      const ahead = waiting.get(tenant) ?? 0;
      const due = {
        schedule: scheduleOf(row),
        now: firedAt.getTime(),
        busy: busy.has(row.id),
        capacity: maxQueued - ahead,
      };
      // Its turn comes when its last run has ended.
      if (due.busy && row.overlap === 'queue') continue;
      const firing = plan(due);
      made.push(...firing.calls);
      waiting.set(tenant, ahead + firing.calls.length);
      fired.push({ ...due, firing });
    }
    // How many there may be has been planned already.
    await insertCalls(
      trx,
      made.map((call) => ({ call, maxQueued: NO_MORE_THAN_PLANNED })),
    );
    await advance(trx, fired, now);
    return fired;
  });
}

const NO_MORE_THAN_PLANNED = 2 ** 31 - 1;

type DueRow = Selectable<ScheduledTasksTable> & { readonly fired_at: Date };

/** Those that another replica is firing at this moment are left to it. */
async function lockDue(trx: Db, limit: number, now: Now): Promise<readonly DueRow[]> {
  const { rows } = await sql<DueRow>`
    SELECT s.*, ${now()} AS fired_at FROM scheduled_tasks s
    WHERE s.enabled AND s.next_run <= ${now()}
      AND (s.overlap <> 'queue' OR NOT EXISTS (
        SELECT 1 FROM calls c WHERE c.schedule_id = s.id AND c.status IN ('queued', 'running')))
    ORDER BY s.next_run, s.id LIMIT ${limit} FOR UPDATE OF s SKIP LOCKED`.execute(trx);
  return rows;
}

async function unfinished(trx: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ schedule_id: string }>`
    SELECT DISTINCT schedule_id FROM calls
    WHERE schedule_id = ANY(${ids}::text[]) AND status IN ('queued', 'running')`.execute(trx);
  return new Set(rows.map((row) => row.schedule_id));
}

async function countWaiting(trx: Db, tenants: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ tenant_id: string; waiting: number }>`
    SELECT tenant_id, count(*) AS waiting FROM calls
    WHERE status = 'queued' AND kind <> 'sync' AND tenant_id = ANY(${[...new Set(tenants)]}::text[])
    GROUP BY tenant_id`.execute(trx);
  return new Map(rows.map((row) => [row.tenant_id, row.waiting]));
}

async function advance(trx: Db, fired: readonly Fired[], now: Now): Promise<void> {
  const steps = fired.map(({ schedule, firing: { calls, nextRun, goesOn, status } }) => ({
    id: schedule.id,
    next_run: isoOf(nextRun),
    last_run: isoOf(calls.at(-1)?.schedule?.fireTime ?? schedule.lastRun),
    goes_on: goesOn,
    last_status: status,
    made: calls.length,
  }));
  await sql`
    UPDATE scheduled_tasks s SET next_run = f.next_run, last_run = f.last_run, last_status = f.last_status,
      runs = s.runs + f.made, enabled = f.goes_on, finished_at = CASE WHEN NOT f.goes_on THEN ${now()} END
    FROM json_to_recordset(${JSON.stringify(steps)}::json) AS f(
      id text, next_run timestamptz, last_run timestamptz, goes_on boolean, last_status text, made int)
    WHERE s.id = f.id`.execute(trx);
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
