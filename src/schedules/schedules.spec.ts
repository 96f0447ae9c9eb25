// Schedules: made as the call itself would be agreed to, changed by their owner alone, and shown to nobody else's eyes.
import { describe, expect, it } from 'vitest';
import {
  admittedOf,
  callOf,
  functionOf,
  principalOf,
  recordingMetrics,
  requestOf,
} from '../../test/helpers/call-kit.ts';
import { FakeClock } from '../../test/helpers/fake-clock.ts';
import { quietLog } from '../../test/helpers/quiet-log.ts';
import { scheduleAt } from '../../test/helpers/schedule-kit.ts';
import type { AdmitRequest, Admission } from '../contract/call/admission.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { acceptedOf, refusalOf } from '../core/settle.ts';
import type { Schedule, ScheduleChange, ScheduleStore } from '../ports/calls/schedule-store.ts';
import { changeSeries } from './schedule-metrics.ts';
import { Schedules, type ScheduleDraft } from './schedules.ts';

/** The database's time: a minute ahead of the gateway's. */
const NOON = Date.parse('2026-03-01T12:00:00Z');
const MINUTE_MS = 60_000;
const { callId: _id, ...ADMITTED } = admittedOf({ tool: 'echo', context: { userId: 'ann' } });

/** Rows in memory: each change counts a version, as in the database. */
class Rows {
  readonly all = new Map<string, Schedule>();
  readonly changes: ScheduleChange[] = [];

  readonly store: ScheduleStore = {
    now: async () => NOON,
    create: async (schedule, { perTenant, perOwner = perTenant }) => {
      if (this.all.size >= perTenant) return 'tenant_full';
      if (this.all.size >= perOwner) return 'owner_full';
      const made = scheduleAt(schedule);
      this.all.set(made.id, made);
      return made;
    },
    get: async (tenantId, id) => {
      const row = this.all.get(id);
      return row?.tenantId === tenantId ? row : undefined;
    },
    list: async (tenantId, { principalId }) =>
      [...this.all.values()].filter(
        (row) =>
          row.tenantId === tenantId && (principalId === undefined || row.call.principalId === principalId),
      ),
    runs: async () => [],
    change: async (tenantId, id, version, change) => {
      const row = this.all.get(id);
      if (row?.tenantId !== tenantId || row.version !== version) return undefined;
      const { waits, ...rest } = change;
      this.changes.push(change);
      const changed = { ...row, ...rest, ...waits, version: version + 1 };
      this.all.set(id, changed);
      return changed;
    },
    delete: async (_tenantId, id) => this.all.delete(id),
    fireDue: async () => [],
    counts: async () => ({ enabled: 0, failing: 0, overdue: 0 }),
  };
}

function setUp({ refusal, maxPerTenant = 3 }: { refusal?: ToolFailure; maxPerTenant?: number } = {}) {
  const rows = new Rows();
  const asked: AdmitRequest[] = [];
  const schedules = new Schedules({
    store: rows.store,
    caller: {
      async admit(request): Promise<Admission> {
        asked.push(request);
        const call = callOf();
        if (refusal !== undefined) return { admitted: false, response: refusalOf(call, refusal) };
        return {
          admitted: true,
          call: admittedOf({ tool: request.tool, arguments: request.arguments, context: request.context }),
          function: functionOf(),
          door: 'rest',
          registryVersion: '1.0.0',
          traceId: '',
          kept: async (at) => acceptedOf(call, at),
          failed: async (error) => refusalOf(call, error),
        };
      },
    },
    clock: new FakeClock(NOON - MINUTE_MS),
    log: quietLog,
    rules: { refusal: (url) => (url.startsWith('https://host/') ? undefined : 'names another host') },
    series: changeSeries(recordingMetrics()),
    maxPerTenant,
  });
  const row = (over: Partial<Schedule> = {}) => {
    const request = JSON.stringify(ADMITTED);
    const made = scheduleAt({ id: 's1', call: { ...scheduleAt().call, request }, ...over });
    rows.all.set(made.id, made);
    return made;
  };
  return { rows, schedules, asked, row };
}

const owner = principalOf({ permissions: new Set() });
const reader = principalOf({ id: 'reader', permissions: new Set(['calls:read']) });
const admin = principalOf({ id: 'admin', permissions: new Set(['admin']) });
const stranger = principalOf({ id: 'stranger', permissions: new Set() });
const foreigner = principalOf({ tenantId: 'globex' });
const BY = { credential: { kind: 'bearer', token: 't' }, door: 'rest' } as const;

const DRAFT: ScheduleDraft = { phrase: 'every day at 9am', taskType: 'tool_call', description: 'report' };
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof ToolFailure ? error.reason : String(error)),
  );

describe('a schedule that is made', () => {
  it('begins by the time of the database, and its terms are part of what is agreed to', async () => {
    const { schedules, asked } = setUp();
    const { schedule, own } = await schedules.create(owner, requestOf({ tool: 'echo' }), DRAFT);
    expect(schedule).toMatchObject({ tenantId: 'acme', description: 'report', call: { tool: 'echo' } });
    expect(schedule.nextRun).toBe(Date.parse('2026-03-02T09:00:00Z'));
    expect(own).toBe(true);
    expect(asked).toMatchObject([
      { tool: 'echo', terms: { schedule: { schedule: 'every day at 9am', time_zone: 'UTC' } } },
    ]);
  });

  it('keeps of the call what holds for every run, and nothing of this one moment', async () => {
    const { schedules } = setUp();
    const context = { userId: 'ann', idempotencyKey: 'once', traceparent: '00-a', turnId: 't' };
    const { schedule } = await schedules.create(owner, requestOf({ context }), DRAFT);
    expect(JSON.parse(schedule.call.request)).toMatchObject({ context: { userId: 'ann' } });
    for (const word of ['once', '00-a', 'turnId']) expect(schedule.call.request).not.toContain(word);
  });

  it('is refused as the call itself would be, and nothing is kept', async () => {
    const refusal = new ToolFailure('CONFIRMATION_REQUIRED', 'ask', { reason: 'APPROVAL_PENDING' });
    const { rows, schedules } = setUp({ refusal });
    expect(await reasonOf(schedules.create(owner, requestOf(), DRAFT))).toBe('APPROVAL_PENDING');
    expect(rows.all.size).toBe(0);
  });

  it('is told of where it may be, which is part of what is agreed to, also when it is moved', async () => {
    const { rows, schedules, asked } = setUp();
    const told = { ...DRAFT, callbackUrl: 'https://host/done' };
    const { schedule } = await schedules.create(owner, requestOf({ tool: 'echo' }), told);
    await schedules.change(owner, schedule.id, { phrase: 'every hour' }, BY);
    expect(rows.all.get(schedule.id)?.call.callbackUrl).toBe('https://host/done');
    expect(asked.map(({ terms }) => terms)).toMatchObject([
      { schedule: { callback_url: 'https://host/done' } },
      { schedule: { callback_url: 'https://host/done', schedule: 'every hour' } },
    ]);
    const elsewhere = { ...DRAFT, callbackUrl: 'https://elsewhere/' };
    expect(await reasonOf(schedules.create(owner, requestOf(), elsewhere))).toBe('CALLBACK_NOT_ALLOWED');
  });

  it('is held to what a tool allows that makes it, when it is moved as well', async () => {
    const { schedules } = setUp({ maxPerTenant: 3 });
    const bounds = { kind: 'recurring', maxPerOwner: 1, minIntervalMs: 3_600_000 } as const;
    const make = (phrase: string) =>
      reasonOf(schedules.create(owner, requestOf(), { ...DRAFT, phrase }, bounds));
    expect(await make('every minute')).toBe('SCHEDULE_TOO_OFTEN');
    expect(await make('in 5m')).toBe('MALFORMED_SCHEDULE');
    const { schedule } = await schedules.create(owner, requestOf(), DRAFT, bounds);
    expect(await make('daily 9am')).toBe('TOO_MANY_SCHEDULES');
    const often = schedules.change(owner, schedule.id, { phrase: 'every minute' }, { ...BY, bounds });
    expect(await reasonOf(often)).toBe('SCHEDULE_TOO_OFTEN');
  });

  it('is refused where the tenant has too many, where it is a dry run, and where it is never due', async () => {
    const { rows, schedules } = setUp({ maxPerTenant: 0 });
    expect(await reasonOf(schedules.create(owner, requestOf(), DRAFT))).toBe('TOO_MANY_SCHEDULES');
    const dry = requestOf({ context: { dryRun: true } });
    await expect(schedules.create(owner, dry, DRAFT)).rejects.toMatchObject({ type: 'VALIDATION' });
    const never = { ...DRAFT, endAt: NOON + MINUTE_MS };
    await expect(schedules.create(owner, requestOf(), never)).rejects.toMatchObject({ type: 'VALIDATION' });
    expect(rows.all.size).toBe(0);
  });
});

describe('a schedule is shown', () => {
  it.each([
    ['its owner', owner, 'none', 1],
    ['one who may read calls', reader, 'none', 1],
    ['an admin', admin, 'none', 1],
    ['another credential of the tenant', stranger, 'SCHEDULE_NOT_FOUND', 0],
    ['another tenant, whatever it may', foreigner, 'SCHEDULE_NOT_FOUND', 0],
  ])('to %s, or is not known', async (_who, principal, reason, listed) => {
    const { schedules, row } = setUp();
    row();
    expect(await reasonOf(schedules.get(principal, 's1'))).toBe(reason);
    expect(await schedules.list(principal, { limit: 10 })).toHaveLength(listed);
  });

  it('as the own one to its owner alone: what it is called with is for nobody else', async () => {
    const { schedules, row } = setUp();
    row();
    expect((await schedules.get(owner, 's1')).own).toBe(true);
    expect((await schedules.get(admin, 's1')).own).toBe(false);
  });
});

describe('when a schedule runs', () => {
  it('is agreed to anew, as the call that it was made of, and begins from now', async () => {
    const { schedules, row, asked } = setUp();
    row();
    const { schedule } = await schedules.change(
      owner,
      's1',
      { phrase: 'every hour' },
      { ...BY, confirmationToken: 'yes' },
    );
    expect(asked).toMatchObject([
      {
        tool: 'echo',
        context: { userId: 'ann', confirmationToken: 'yes' },
        terms: { schedule: { schedule: 'every hour' } },
      },
    ]);
    expect(schedule).toMatchObject({ version: 2, enabled: true, nextRun: NOON + 60 * MINUTE_MS });
  });

  it('is for its owner to say: an admin may stop it, and not change it', async () => {
    const { schedules, row, rows } = setUp();
    row();
    expect(await reasonOf(schedules.change(admin, 's1', { phrase: 'every hour' }, BY))).toBe('NOT_THE_OWNER');
    expect(await reasonOf(schedules.change(admin, 's1', { enabled: false }, BY))).toBe('none');
    expect(rows.all.get('s1')).toMatchObject({ enabled: false, nextRun: null });
  });

  it('is not changed by one who may only read it', async () => {
    const { schedules, row, rows } = setUp();
    row();
    expect(await reasonOf(schedules.change(reader, 's1', { enabled: false }, BY))).toBe('PERMISSION_MISSING');
    expect(await reasonOf(schedules.delete(reader, 's1'))).toBe('PERMISSION_MISSING');
    expect([rows.changes, rows.all.size]).toEqual([[], 1]);
  });

  it('stays as it is where something else is changed: nobody is asked, and its next run is not moved', async () => {
    const { schedules, row, rows, asked } = setUp();
    row({ nextRun: NOON + MINUTE_MS });
    await schedules.change(owner, 's1', { description: 'other' }, BY);
    expect(asked).toEqual([]);
    expect(rows.changes[0]).not.toHaveProperty('waits');
    expect(rows.all.get('s1')).toMatchObject({ description: 'other', nextRun: NOON + MINUTE_MS });
  });

  it('is refused where what it would call is refused by now, and stays as it was', async () => {
    const { schedules, row, rows } = setUp({ refusal: new ToolFailure('PERMISSION_DENIED', 'no') });
    row();
    expect(await reasonOf(schedules.change(owner, 's1', { phrase: 'every hour' }, BY))).toBe(
      'PERMISSION_DENIED',
    );
    expect(rows.changes).toEqual([]);
  });

  it('begins again from now when it is switched on, not from when it was switched off', async () => {
    const { schedules, row } = setUp();
    row({ enabled: false, nextRun: null });
    const { schedule } = await schedules.change(owner, 's1', { enabled: true }, BY);
    expect(schedule.nextRun).toBe(NOON + MINUTE_MS);
  });
});

describe('a schedule that was changed meanwhile', () => {
  it('is neither changed nor deleted by who has not seen it', async () => {
    const { schedules, row, rows } = setUp();
    row({ version: 2 });
    const edit = { description: 'x' };
    expect(await reasonOf(schedules.change(owner, 's1', edit, { ...BY, version: 1 }))).toBe(
      'VERSION_MISMATCH',
    );
    expect(await reasonOf(schedules.delete(owner, 's1', 1))).toBe('VERSION_MISMATCH');
    expect([rows.changes, rows.all.size]).toEqual([[], 1]);
    expect(await reasonOf(schedules.delete(owner, 's1', 2))).toBe('none');
    expect(rows.all.size).toBe(0);
  });

  it('between the look and the write is not overwritten', async () => {
    const { schedules, row, rows } = setUp();
    const seen = row();
    rows.store.get = async () => seen;
    row({ version: 2 });
    expect(await reasonOf(schedules.change(owner, 's1', { description: 'x' }, BY))).toBe('VERSION_MISMATCH');
  });

  it('and has finished by now is not begun again', async () => {
    const { schedules, row } = setUp();
    row({ finishedAt: NOON });
    expect(await reasonOf(schedules.change(owner, 's1', { enabled: true }, BY))).toBe('SCHEDULE_FINISHED');
  });
});
