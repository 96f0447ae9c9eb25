// ScheduleTicker: when it looks, when it does not, and what it does about what it cannot plan.
import { describe, expect, it } from 'vitest';
import { recordingMetrics } from '../../test/helpers/call-kit.ts';
import { FakeClock } from '../../test/helpers/fake-clock.ts';
import { quietLog } from '../../test/helpers/quiet-log.ts';
import { scheduleAt, termsOf } from '../../test/helpers/schedule-kit.ts';
import type { DueSchedule, Fired, FiringPlan, Schedule } from '../ports/calls/schedule-store.ts';
import { scheduleSeries } from './schedule-metrics.ts';
import { ScheduleTicker } from './schedule-ticker.ts';

function setUp({ due = [] as Schedule[], fails = 0, hangs = false } = {}) {
  const clock = new FakeClock();
  const offered: string[] = [];
  const planned: FiringPlan[] = [];
  let looks = 0;
  const ticker = new ScheduleTicker({
    store: {
      async fireDue({ limit }, plan) {
        looks += 1;
        if (hangs) return new Promise<never>(() => undefined);
        if (looks <= fails) throw new Error('the database is away');
        return due.splice(0, limit).map((schedule): Fired => {
          const about: DueSchedule = { schedule, now: clock.now(), busy: false, capacity: 10 };
          const firing = plan(about);
          planned.push(firing);
          return { ...about, firing };
        });
      },
    },
    queue: { offer: (id) => void offered.push(id) },
    catalog: {
      snapshot: () => ({
        version: '1.0.00000000',
        contentHash: '',
        specs: [],
        functions: [],
        find: () => undefined,
        providerName: (name) => name,
      }),
      onChange: () => () => undefined,
      isDisabled: () => false,
    },
    clock,
    log: quietLog,
    random: () => 0.5,
    series: scheduleSeries(recordingMetrics()),
    maxQueued: 10,
    maxWaitMs: 60_000,
  });
  return { clock, ticker, offered, planned, looks: () => looks };
}

describe('ScheduleTicker', () => {
  it('stops within a second though the database never answers', async () => {
    const { clock, ticker, looks } = setUp({ hangs: true });
    ticker.start();
    await clock.advance(1_500);
    const stopped = ticker.stop();
    await clock.advance(1_000);
    await stopped;
    expect(looks()).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('looks every second, and not any more when it is stopped', async () => {
    const { clock, ticker, looks } = setUp();
    ticker.start();
    await clock.advance(3_500);
    expect(looks()).toBe(3);
    await ticker.stop();
    await clock.advance(10_000);
    expect(looks()).toBe(3);
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes on when the database was away', async () => {
    const { clock, ticker, offered } = setUp({ due: [scheduleAt({ nextRun: 1_699_999_980_000 })], fails: 2 });
    ticker.start();
    await clock.advance(4_000);
    expect(offered).toHaveLength(1);
  });

  it('takes all that is due at once, some at a time, and offers each call to the queue', async () => {
    const due = Array.from({ length: 60 }, (_, index) =>
      scheduleAt({ id: `s${index}`, nextRun: 1_699_999_980_000 }),
    );
    const { clock, ticker, offered, looks } = setUp({ due });
    ticker.start();
    await clock.advance(1_000);
    expect(offered).toHaveLength(60);
    expect(looks()).toBe(3);
  });

  it('puts aside what cannot be planned, and plans the others', async () => {
    const broken = scheduleAt({ terms: termsOf({ when: { kind: 'recurring', cron: 'no cron' } }) });
    const { clock, ticker, planned } = setUp({ due: [broken, scheduleAt({ nextRun: 1_699_999_980_000 })] });
    ticker.start();
    await clock.advance(1_000);
    expect(planned).toMatchObject([
      { status: 'broken', goesOn: false },
      { status: 'fired', goesOn: true },
    ]);
  });
});
