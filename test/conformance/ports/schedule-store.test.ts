// ScheduleStore on both databases: who fires what, and that each moment makes one call.
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { databaseCallStore } from '../../../src/infra/calls/call-store.ts';
import type { Database } from '../../../src/infra/postgres/database.ts';
import { SqlScheduleStore } from '../../../src/infra/schedules/sql-schedule-store.ts';
import type { CallStore } from '../../../src/ports/calls/call-store.ts';
import type { NewSchedule, Schedule } from '../../../src/ports/calls/schedule-store.ts';
import { ACME, DAY_MS, endAs, waitingIds } from '../../helpers/async-kit.ts';
import {
  DATABASES,
  postgresDatabase,
  type SharedTestDatabase,
  type TestDatabase,
} from '../../helpers/databases.ts';
import {
  FIRE_TERMS,
  forgetSchedules,
  newSchedule,
  plan,
  termsOf,
  timeAt,
} from '../../helpers/schedule-kit.ts';

const NOON = Date.parse('2026-05-04T12:00:00Z');
const MINUTE = 60_000;

describe.each(DATABASES)('schedules on %s', (_name, open) => {
  let opened: TestDatabase;
  let database: Database;
  let store: SqlScheduleStore;
  let calls: CallStore;
  let time = '';

  beforeAll(async () => {
    opened = await open();
    database = await opened.database.opened();
    store = new SqlScheduleStore(
      database,
      timeAt(() => time),
    );
    calls = databaseCallStore(database, DAY_MS);
    setTime(NOON);
  });
  afterEach(async () => {
    await forgetSchedules(database);
    setTime(NOON);
  });
  afterAll(() => opened.end());

  const setTime = (at: number) => (time = new Date(at).toISOString());
  const made = async (over: Partial<NewSchedule> = {}): Promise<Schedule> => {
    const schedule = await store.create(newSchedule({ nextRun: NOON, ...over }), { perTenant: 1_000 });
    if (typeof schedule === 'string') throw new Error('not made');
    return schedule;
  };
  const fire = async () => (await store.fireDue(FIRE_TERMS, plan)).flatMap(({ firing }) => firing.calls);
  const fireTimes = async (id: string) => (await store.runs([id], 100)).map((run) => run.fireTime);
  const endRuns = async () => {
    for (const claim of await calls.claim('a', 30_000, 100)) await calls.finish(claim, endAs('succeeded'));
  };

  it('keeps what it is given, what JSON can say and PostgreSQL cannot as well', async () => {
    const terms = termsOf({
      phrase: 'daily 9am',
      timeZone: 'Europe/Berlin',
      endAt: NOON + DAY_MS,
      maxRuns: 7,
    });
    const request = JSON.stringify({
      tool: 'echo',
      arguments: { a: '\0', b: 'ü', c: '\ud800' },
      context: {},
    });
    const given = newSchedule({ terms, nextRun: NOON, description: 'of a kind', taskType: 'reminder' });
    const call = { ...given.call, request, callbackUrl: 'https://host/told' };
    const schedule = await store.create({ ...given, call }, { perTenant: 1 });
    expect(schedule).toMatchObject({
      terms,
      nextRun: NOON,
      description: 'of a kind',
      taskType: 'reminder',
      version: 1,
    });
    expect(schedule).toMatchObject({ call });
    expect(await store.get(ACME, given.id)).toEqual(schedule);
  });

  it('makes a call at its time, and not before', async () => {
    const { id } = await made({ nextRun: NOON + 1 });
    expect(await fire()).toEqual([]);
    setTime(NOON + MINUTE);
    expect(await fire()).toHaveLength(1);
    expect(await fire()).toEqual([]);
    expect(await store.get(ACME, id)).toMatchObject({
      nextRun: NOON + 2 * MINUTE,
      lastRun: NOON + MINUTE,
      lastStatus: 'fired',
      runs: 1,
      version: 1,
    });
    expect(await waitingIds(database)).toHaveLength(1);
  });

  it('a moment that has a call makes no second one, even when the time is set back', async () => {
    const { id } = await made();
    await fire();
    await endRuns();
    await sql`UPDATE scheduled_tasks SET next_run = ${new Date(NOON)}`.execute(database.db);
    await fire();
    expect(await fireTimes(id)).toEqual([NOON]);
  });

  it('ends a schedule that has no further moment', async () => {
    const { id } = await made({ terms: termsOf({ when: { kind: 'once', at: NOON } }) });
    await fire();
    const ended = { enabled: false, nextRun: null, finishedAt: NOON, lastStatus: 'fired' };
    expect(await store.get(ACME, id)).toMatchObject(ended);
  });

  it.each([
    ['allow', [NOON + MINUTE, NOON], [NOON + MINUTE, NOON]],
    ['skip', [NOON], [NOON]],
    ['queue', [NOON], [NOON + MINUTE, NOON]],
  ] as const)(
    'with a run that goes on, %s has runs %j, and %j after it has ended',
    async (overlap, during, after) => {
      const { id } = await made({ terms: termsOf({ overlap }) });
      await fire();
      setTime(NOON + MINUTE);
      await fire();
      expect(await fireTimes(id)).toEqual(during);
      await endRuns();
      await fire();
      expect(await fireTimes(id)).toEqual(after);
    },
  );

  it.each([
    ['skip', [59, 60]],
    ['once', [59, 60]],
    ['catch_up', [56, 57, 58, 59, 60]],
  ] as const)('after an hour without a gateway, %s', async (misfire, minutes) => {
    const { id } = await made({ terms: termsOf({ misfire, overlap: 'allow', maxCatchUp: 4 }) });
    setTime(NOON + 59 * MINUTE);
    await fire();
    setTime(NOON + 60 * MINUTE);
    await fire();
    expect(await fireTimes(id)).toEqual(minutes.map((each) => NOON + each * MINUTE).toReversed());
  });

  it('what is made up for one after the other never runs beside itself', async () => {
    const { id } = await made({ terms: termsOf({ misfire: 'catch_up', overlap: 'queue', maxCatchUp: 3 }) });
    setTime(NOON + 59 * MINUTE);
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(await fire()).toHaveLength(1);
      expect(await fire()).toEqual([]);
      expect(await fireTimes(id)).toHaveLength(turn);
      await endRuns();
    }
    expect(await fire()).toEqual([]);
  });

  it('holds the cap of a tenant whoever comes at once, and does not count what has finished', async () => {
    const at = (tenantId: string) => store.create(newSchedule({ tenantId, nextRun: NOON }), { perTenant: 3 });
    const attempts = await Promise.all(Array.from({ length: 8 }, () => at(ACME)));
    expect(attempts.filter((schedule) => schedule !== 'tenant_full')).toHaveLength(3);
    expect(await at('umbrella')).toMatchObject({ tenantId: 'umbrella' });
    await sql`UPDATE scheduled_tasks SET finished_at = now(), enabled = false`.execute(database.db);
    expect(await at(ACME)).toBeDefined();
  });

  it('holds the cap of a credential, agent and user apart from that of any other, and lists theirs alone', async () => {
    const of = (who: object) =>
      newSchedule({ nextRun: NOON, call: { ...newSchedule().call, agentId: 'desk', userId: 'ann', ...who } });
    const make = (who: object = {}) => store.create(of(who), { perTenant: 10, perOwner: 2 });
    const attempts = await Promise.all(Array.from({ length: 6 }, () => make()));
    expect(attempts.filter((schedule) => schedule !== 'owner_full')).toHaveLength(2);
    const others = [{ userId: 'bob' }, { userId: '' }, { agentId: 'sales' }, { principalId: 'key00002' }];
    for (const who of others) expect(await make(who)).toMatchObject({ tenantId: ACME });
    const owner = { principalId: 'key00001', agentId: 'desk', userId: 'ann' };
    const listed = () => store.list(ACME, { owner, unfinished: true, limit: 10 });
    const own = await listed();
    expect(own.map(({ call }) => call.userId)).toEqual(['ann', 'ann']);
    expect(await store.list('umbrella', { owner, limit: 10 })).toEqual([]);
    await sql`UPDATE scheduled_tasks SET finished_at = now(), enabled = false WHERE id = ${own[0]?.id}`.execute(
      database.db,
    );
    expect(await listed()).toHaveLength(1);
    expect(await make()).toMatchObject({ tenantId: ACME });
  });

  it('changes the version that was looked at, and no other', async () => {
    const { id, terms, call } = await made();
    const off = { description: 'off', terms, call, waits: { enabled: false, nextRun: null } };
    expect(await store.change(ACME, id, 1, off)).toMatchObject({ version: 2, enabled: false, nextRun: null });
    expect(await store.change(ACME, id, 1, off)).toBeUndefined();
    expect(await store.change('umbrella', id, 2, off)).toBeUndefined();
    expect(await fire()).toEqual([]);
  });

  it('a change of its description leaves alone what it waits for', async () => {
    const { id, terms, call } = await made();
    await fire();
    const changed = await store.change(ACME, id, 1, { description: 'new', terms, call });
    expect(changed).toMatchObject({ description: 'new', enabled: true, nextRun: NOON + MINUTE });
  });

  it('shows a tenant its own, newest first, page by page', async () => {
    const ids = [];
    for (let index = 0; index < 3; index += 1) ids.push((await made()).id);
    await made({ tenantId: 'umbrella' });
    const newest = ids.toReversed();
    const page = await store.list(ACME, { limit: 2 });
    expect(page.map(({ id }) => id)).toEqual(newest.slice(0, 2));
    expect((await store.list(ACME, { limit: 2, before: newest[1] })).map(({ id }) => id)).toEqual(
      newest.slice(2),
    );
    expect(await store.list(ACME, { limit: 2, principalId: 'key00002' })).toEqual([]);
    expect(await store.delete('umbrella', newest[0] ?? '')).toBe(false);
    expect(await store.delete(ACME, newest[0] ?? '')).toBe(true);
  });

  it('counts those that fail and those that are late', async () => {
    await made();
    await made({ nextRun: NOON + DAY_MS });
    await fire();
    const [claim] = await calls.claim('a', 30_000, 1);
    if (claim !== undefined) await calls.finish(claim, endAs('failed'));
    setTime(NOON + 10 * MINUTE);
    expect(await store.counts()).toEqual({ enabled: 2, failing: 1, overdue: 1 });
  });

  it('leaves the calls of a full tenant unmade, and makes those of others', async () => {
    await made();
    await made({ tenantId: 'umbrella' });
    await store.fireDue({ limit: 25, maxQueued: 0 }, plan);
    expect(await waitingIds(database)).toEqual([]);
    setTime(NOON + MINUTE);
    await store.fireDue({ limit: 25, maxQueued: 1 }, plan);
    expect(await waitingIds(database)).toHaveLength(2);
  });
});

describe('replicas on one PostgreSQL', () => {
  let opened: SharedTestDatabase;
  beforeAll(async () => (opened = await postgresDatabase()), 60_000);
  afterAll(() => opened.end());

  it('a replica that finds a schedule in the hands of another does nothing about it', async () => {
    const [here, there] = [await opened.database.opened(), await opened.another().opened()];
    const [mine, other] = [new SqlScheduleStore(here), new SqlScheduleStore(there)];
    const { id } = newSchedule();
    await mine.create(
      newSchedule({
        id,
        nextRun: Date.now() - 1_000,
        terms: termsOf({ when: { kind: 'once', at: Date.now() - 1_000 } }),
      }),
      { perTenant: 10 },
    );
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = here.db.transaction().execute(async (trx) => {
      await sql`SELECT 1 FROM scheduled_tasks WHERE id = ${id} FOR UPDATE`.execute(trx);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    expect(await other.fireDue(FIRE_TERMS, plan)).toEqual([]);
    released.resolve();
    await holding;
    expect(await other.fireDue(FIRE_TERMS, plan)).toHaveLength(1);
    expect(await mine.fireDue(FIRE_TERMS, plan)).toEqual([]);
    await forgetSchedules(here);
  });

  it('three of them that tick as they like make one call of each moment of each schedule', async () => {
    const first = await opened.database.opened();
    const databases = [first, await opened.another().opened(), await opened.another().opened()];
    const overlaps = fc.constantFrom('allow' as const, 'queue' as const);
    const round = fc.record({
      delays: fc.array(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 8, maxLength: 8 }), {
        minLength: 3,
        maxLength: 3,
      }),
      overlap: fc.array(overlaps, { minLength: 20, maxLength: 20 }),
    });
    await fc.assert(
      fc
        .asyncProperty(round, async ({ delays, overlap }) => {
          // Ten moments, a minute apart, each of which came while the one before was being fired.
          let time = NOON;
          const stores = databases.map(
            (database) =>
              new SqlScheduleStore(
                database,
                timeAt(() => new Date(time).toISOString()),
              ),
          );
          const terms = (index: number) =>
            termsOf({ overlap: overlap[index], misfire: 'catch_up', maxCatchUp: 100 });
          for (let index = 0; index < 20; index += 1)
            await stores[0]?.create(newSchedule({ terms: terms(index), nextRun: NOON }), {
              perTenant: 1_000,
            });
          await Promise.all(
            stores.map(async (store, replica) => {
              for (const delay of delays[replica] ?? []) {
                await pause(delay);
                await store.fireDue({ limit: 7, maxQueued: 10_000 }, plan);
                time += 30_000;
              }
            }),
          );
          for (let looked = 1; looked > 0;)
            looked = (await stores[0]?.fireDue({ ...FIRE_TERMS, limit: 100 }, plan))?.length ?? 0;
          const made = await madeOf(first);
          expect(made).toHaveLength(overlap.length);
          expect(made.filter((each) => !oncePerMoment(each))).toEqual([]);
        })
        .afterEach(() => forgetSchedules(first)),
      { numRuns: 3 },
    );
  });
});

interface Made {
  readonly overlap: string;
  readonly runs: number;
  readonly times: number;
  readonly distinct: number;
  /** Minutes from its first moment to its last. */
  readonly span: number;
}

async function madeOf({ db }: Database): Promise<readonly Made[]> {
  const { rows } = await sql<Made>`
    SELECT s.overlap, s.runs, count(*) AS times, count(DISTINCT c.fire_time) AS distinct,
      round(extract(epoch FROM max(c.fire_time) - min(c.fire_time)) / 60)::int AS span
    FROM scheduled_tasks s JOIN calls c ON c.schedule_id = s.id GROUP BY s.id`.execute(db);
  return rows;
}

/** None is left out and none comes twice; where they wait for their turn, the first one has it. */
function oncePerMoment({ overlap, runs, times, distinct, span }: Made): boolean {
  const all = overlap === 'queue' ? times === 1 : times > 10;
  return all && distinct === times && runs === times && span === times - 1;
}
