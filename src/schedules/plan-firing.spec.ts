// planFiring: which moments become calls, by what the schedule says about missed ones and about runs that go on.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plan, scheduleAt, termsOf } from '../../test/helpers/schedule-kit.ts';
import type { ScheduleTerms } from '../ports/calls/schedule-store.ts';

const minute = (text: string) => Date.parse(`2026-05-04T${text}Z`);
const shown = (time: number | null) => (time === null ? null : new Date(time).toISOString().slice(11, 19));

function planned(
  terms: Partial<ScheduleTerms>,
  {
    from,
    now,
    busy = false,
    capacity = 100,
    runs = 0,
  }: { from: string; now: string; busy?: boolean; capacity?: number; runs?: number },
) {
  const schedule = scheduleAt({ terms: termsOf(terms), nextRun: minute(from), runs });
  const { calls, nextRun, goesOn, status, missed } = plan({ schedule, now: minute(now), busy, capacity });
  const times = calls.map(({ schedule: made }) => shown(made?.fireTime ?? null));
  return { times, next: shown(nextRun), goesOn, status, missed };
}

const DOWN = { from: '12:00:00', now: '12:10:30' };
const AT = { from: '12:00:00', now: '12:00:00' };

describe('a schedule that is due', () => {
  it('becomes one call, and waits for the next moment', () => {
    const fired = { times: ['12:00:00'], next: '12:01:00', goesOn: true, status: 'fired', missed: false };
    expect(planned({}, AT)).toEqual(fired);
  });

  it.each([
    ['skip', ['12:10:00'], 'fired'],
    ['once', ['12:10:00'], 'fired'],
    ['catch_up', ['12:08:00', '12:09:00', '12:10:00'], 'fired'],
  ] as const)(
    'after ten minutes without a gateway, %s makes of eleven moments %j',
    (misfire, times, status) => {
      const fired = planned({ misfire, maxCatchUp: 3, overlap: 'allow' }, DOWN);
      expect(fired).toEqual({ times, next: '12:11:00', goesOn: true, status, missed: true });
    },
  );

  it('with skip, makes no call of a moment that is over', () => {
    const daily = { misfire: 'skip', when: { kind: 'recurring', cron: '0 12 * * *' } } as const;
    expect(planned(daily, DOWN)).toMatchObject({ times: [], status: 'missed', missed: true, goesOn: true });
    expect(planned(daily, { ...DOWN, now: '12:00:59' })).toMatchObject({
      times: ['12:00:00'],
      missed: false,
    });
  });

  it.each([
    ['allow', ['12:00:00'], 'fired'],
    ['skip', [], 'skipped_overlap'],
  ] as const)('with its last run going on, %s makes of it %j', (overlap, times, status) => {
    expect(planned({ overlap }, { ...AT, busy: true })).toMatchObject({ times, status, next: '12:01:00' });
  });

  it('with queue, gives each moment that is made up for its turn, one after the other', () => {
    const terms = { misfire: 'catch_up', maxCatchUp: 3, overlap: 'queue' } as const;
    expect(planned(terms, DOWN)).toMatchObject({ times: ['12:08:00'], next: '12:09:00' });
    expect(planned(terms, { ...DOWN, from: '12:09:00' })).toMatchObject({
      times: ['12:09:00'],
      next: '12:10:00',
      missed: false,
    });
    expect(planned(terms, { ...DOWN, from: '12:10:00' })).toMatchObject({
      times: ['12:10:00'],
      next: '12:11:00',
    });
  });

  it('with queue and once, runs once more after a run that took long', () => {
    expect(planned({ overlap: 'queue' }, DOWN)).toMatchObject({ times: ['12:10:00'], next: '12:11:00' });
  });

  it('has finished after its last run, after its end, and after its only moment', () => {
    const finished = { next: null, goesOn: false, status: 'fired' };
    expect(planned({ maxRuns: 3 }, { ...AT, runs: 2 })).toMatchObject({ ...finished, times: ['12:00:00'] });
    expect(planned({ endAt: minute('12:00:30') }, AT)).toMatchObject({ ...finished, times: ['12:00:00'] });
    const once = { when: { kind: 'once', at: minute('12:00:00') } } as const;
    expect(planned(once, DOWN)).toMatchObject({ ...finished, times: ['12:00:00'] });
    expect(planned({ ...once, misfire: 'skip' }, DOWN)).toMatchObject({
      times: [],
      goesOn: false,
      status: 'missed',
    });
  });

  it('makes up for no more than its last runs', () => {
    const terms = { misfire: 'catch_up', maxCatchUp: 10, overlap: 'allow', maxRuns: 4 } as const;
    expect(planned(terms, { ...DOWN, runs: 2 })).toMatchObject({
      times: ['12:01:00', '12:02:00'],
      goesOn: false,
    });
  });

  it('with a full queue, drops a moment of many and waits for capacity for its only one', () => {
    expect(planned({}, { ...AT, capacity: 0 })).toMatchObject({
      times: [],
      status: 'dropped',
      next: '12:01:00',
    });
    const once = { when: { kind: 'once', at: minute('12:00:00') } } as const;
    expect(planned(once, { ...AT, capacity: 0 })).toMatchObject({
      times: [],
      status: 'dropped',
      next: '12:00:30',
      goesOn: true,
    });
    expect(planned(once, { from: '12:00:30', now: '12:00:30' })).toMatchObject({
      times: ['12:00:00'],
      goesOn: false,
    });
  });

  it('never makes a call of a moment to come, of one twice, or more than there is capacity for', () => {
    const any = fc.record({
      cron: fc.constantFrom('* * * * *', '*/7 * * * *', '0 * * * *', '30 2 * * *', '0 9 * * 1-5'),
      timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
      misfire: fc.constantFrom('skip' as const, 'once' as const, 'catch_up' as const),
      overlap: fc.constantFrom('allow' as const, 'skip' as const, 'queue' as const),
      steps: fc.array(fc.integer({ min: 1, max: 300_000_000 }), { minLength: 1, maxLength: 4 }),
      capacity: fc.integer({ min: 0, max: 5 }),
    });
    fc.assert(
      fc.property(any, ({ cron, timeZone, misfire, overlap, steps, capacity }) => {
        const terms = termsOf({
          when: { kind: 'recurring', cron },
          timeZone,
          misfire,
          overlap,
          maxCatchUp: 4,
        });
        const made: number[] = [];
        let [now, nextRun] = [Date.parse('2026-03-28T00:00Z'), Date.parse('2026-03-28T00:00Z')];
        for (const step of steps) {
          now += step;
          if (nextRun > now) continue;
          const firing = plan({ schedule: scheduleAt({ terms, nextRun }), now, busy: false, capacity });
          expect(firing.calls.length).toBeLessThanOrEqual(capacity);
          made.push(...firing.calls.map((call) => call.schedule?.fireTime ?? 0));
          expect(Math.max(0, ...made)).toBeLessThanOrEqual(now);
          nextRun = firing.nextRun ?? Infinity;
        }
        expect(made.toSorted((a, b) => a - b)).toEqual([...new Set(made)]);
      }),
      { numRuns: 100 },
    );
  });
});
