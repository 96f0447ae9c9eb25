// SqlScheduleStore: ScheduleStore on PostgreSQL. All times are the database's own.
import { sql, type Kysely } from 'kysely';
import type {
  DueSchedule,
  Fired,
  FireTerms,
  FiringPlan,
  NewSchedule,
  Schedule,
  ScheduleChange,
  ScheduleCounts,
  ScheduleLimits,
  ScheduledRun,
  ScheduleQuery,
  ScheduleStore,
} from '../../ports/calls/schedule-store.ts';
import { columns } from '../postgres/columns.ts';
import { WriteTurns } from '../postgres/write-turns.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import type { Database } from '../postgres/database.ts';
import { fireSchedules } from './fire-schedules.ts';
import { callColumns, dateOf, newRow, scheduleOf, termColumns, type Now } from './schedule-rows.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';

export class SqlScheduleStore implements ScheduleStore {
  readonly #db: Kysely<Tables>;
  readonly #now: Now;

  /** `now` only for tests of what time brings. */
  readonly #turns = new WriteTurns();

  constructor({ db }: Pick<Database, 'db'>, now: Now = () => sql<Date>`now()`) {
    this.#db = db;
    this.#now = now;
  }

  now(): Promise<number> {
    return withDatabase(async () => {
      const { rows } = await sql<{ now: Date }>`SELECT ${this.#now()} AS now`.execute(this.#db);
      return rows[0]?.now.getTime() ?? Number.NaN;
    });
  }

  create(
    schedule: NewSchedule,
    { perTenant, perOwner }: ScheduleLimits,
  ): Promise<Schedule | 'tenant_full' | 'owner_full'> {
    const { principalId, agentId, userId } = schedule.call;
    const write = () =>
      this.#db.transaction().execute(async (trx) => {
        // One after the other within a tenant: the cap holds whoever comes at once.
        await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`schedules of ${storable(schedule.tenantId)}`}, 0))`.execute(
          trx,
        );
        const { rows } = await sql<{
          all: number;
          own: number;
        }>`SELECT count(*) AS all, count(*) FILTER (WHERE
            principal_id = ${storable(principalId)} AND agent_id = ${storable(agentId)}
            AND user_id = ${storable(userId)}) AS own
          FROM scheduled_tasks
          WHERE tenant_id = ${storable(schedule.tenantId)} AND finished_at IS NULL`.execute(trx);
        const { all = 0, own = 0 } = rows[0] ?? {};
        if (all >= perTenant) return 'tenant_full';
        if (perOwner !== undefined && own >= perOwner) return 'owner_full';
        const values = newRow(schedule, this.#now);
        return scheduleOf(
          await trx.insertInto('scheduled_tasks').values(values).returningAll().executeTakeFirstOrThrow(),
        );
      });
    return this.#turns.run(() => withDatabase(write));
  }

  get(tenantId: string, id: string): Promise<Schedule | undefined> {
    return withDatabase(async () => {
      const row = await this.#db
        .selectFrom('scheduled_tasks')
        .selectAll()
        .where('id', '=', storable(id))
        .where('tenant_id', '=', storable(tenantId))
        .executeTakeFirst();
      return row && scheduleOf(row);
    });
  }

  list(
    tenantId: string,
    { principalId, owner, unfinished, limit, before }: ScheduleQuery,
  ): Promise<readonly Schedule[]> {
    return withDatabase(async () => {
      let query = this.#db
        .selectFrom('scheduled_tasks')
        .selectAll()
        .where('tenant_id', '=', storable(tenantId));
      if (principalId !== undefined) query = query.where('principal_id', '=', storable(principalId));
      if (owner !== undefined)
        query = query
          .where('principal_id', '=', storable(owner.principalId))
          .where('agent_id', '=', storable(owner.agentId))
          .where('user_id', '=', storable(owner.userId));
      if (unfinished === true) query = query.where('finished_at', 'is', null);
      if (before !== undefined) query = query.where('id', '<', before);
      return (await query.orderBy('id', 'desc').limit(limit).execute()).map(scheduleOf);
    });
  }

  runs(scheduleIds: readonly string[], perSchedule: number): Promise<readonly ScheduledRun[]> {
    return withDatabase(async () => {
      const { rows } = await sql<ScheduledRun>`
        SELECT c.* FROM unnest(${scheduleIds}::text[]) AS s(id)
        CROSS JOIN LATERAL (
          SELECT ${columns<ScheduledRun>(['scheduleId', 'status', 'errorType', 'reason'])}, id AS "callId",
            ${milliseconds('fire_time')} AS "fireTime", ${milliseconds('finished_at')} AS "finishedAt" FROM calls
          WHERE schedule_id = s.id ORDER BY fire_time DESC LIMIT ${perSchedule}) AS c`.execute(this.#db);
      return rows;
    });
  }

  change(
    tenantId: string,
    id: string,
    version: number,
    change: ScheduleChange,
  ): Promise<Schedule | undefined> {
    return withDatabase(async () => {
      const row = await this.#db
        .updateTable('scheduled_tasks')
        .set({
          ...(change.waits && { enabled: change.waits.enabled, next_run: dateOf(change.waits.nextRun) }),
          description: storable(change.description),
          ...termColumns(change.terms),
          ...callColumns(change.call),
          version: version + 1,
          updated_at: this.#now(),
        })
        .where('id', '=', id)
        .where('tenant_id', '=', storable(tenantId))
        .where('version', '=', version)
        .where('finished_at', 'is', null)
        .returningAll()
        .executeTakeFirst();
      return row && scheduleOf(row);
    });
  }

  delete(tenantId: string, id: string): Promise<boolean> {
    return withDatabase(async () => {
      const { numDeletedRows } = await this.#db
        .deleteFrom('scheduled_tasks')
        .where('id', '=', storable(id))
        .where('tenant_id', '=', storable(tenantId))
        .executeTakeFirst();
      return numDeletedRows > 0n;
    });
  }

  fireDue(terms: FireTerms, plan: (due: DueSchedule) => FiringPlan): Promise<readonly Fired[]> {
    return withDatabase(() => fireSchedules(this.#db, { ...terms, now: this.#now }, plan));
  }

  counts(): Promise<ScheduleCounts> {
    return withDatabase(async () => {
      const { rows } = await sql<ScheduleCounts>`
        SELECT count(*) AS enabled,
          count(*) FILTER (WHERE last.status IN ('failed', 'outcome_unknown')) AS failing,
          count(*) FILTER (WHERE s.next_run < ${this.#now()} - interval '1 minute') AS overdue
        FROM scheduled_tasks s LEFT JOIN LATERAL (
          SELECT status FROM calls c WHERE c.schedule_id = s.id AND c.finished_at IS NOT NULL
          ORDER BY c.fire_time DESC LIMIT 1) AS last ON true
        WHERE s.enabled`.execute(this.#db);
      return rows[0] ?? { enabled: 0, failing: 0, overdue: 0 };
    });
  }
}

/** Whole, as a Date has them. */
function milliseconds(name: 'fire_time' | 'finished_at') {
  return sql`floor(extract(epoch FROM ${sql.ref(name)}) * 1000)::float8`;
}
