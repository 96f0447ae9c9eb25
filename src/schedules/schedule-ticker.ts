// ScheduleTicker: looks every second for schedules that are due and has calls made of them. Every replica has one; none leads.
import type { CallQueue } from '../ports/calls/call-queue.ts';
import { every, type Repeated } from '../lib/timers/every.ts';
import { settledWithin } from '../lib/timers/settled-within.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { DueSchedule, Fired, FiringPlan, ScheduleStore } from '../ports/calls/schedule-store.ts';
import { BROKEN, planFiring } from './plan-firing.ts';
import type { ScheduleSeries } from './schedule-metrics.ts';
import { runOf, type RunTerms } from './scheduled-call.ts';

export interface TickerDeps extends RunTerms {
  readonly store: Pick<ScheduleStore, 'fireDue'>;
  readonly queue: Pick<CallQueue, 'offer'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly series: ScheduleSeries;
  readonly maxQueued: number;
}

const TICK_MS = 1_000;
/** Schedules of one transaction: it plans them while it holds their rows. */
const BATCH = 25;
/** What is due beyond that waits for the next tick. */
const MAX_BATCHES = 40;
const STOP_WITHIN_MS = 1_000;

export class ScheduleTicker {
  readonly #deps: TickerDeps;
  #ticks: Repeated | undefined;
  #stopped = false;

  constructor(deps: TickerDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { clock, random, log } = this.#deps;
    const failed = (error: unknown) =>
      log.warn({ err: error }, 'due schedules could not be looked for: it is tried again');
    this.#ticks = every(clock, { ms: TICK_MS, jitter: 0.1, random }, () => this.#tick(), failed);
  }

  /** Resolves when the tick under way has ended, or its statement hangs: what it has not fired is fired by another replica. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#ticks !== undefined) await settledWithin(this.#deps.clock, STOP_WITHIN_MS, this.#ticks.stop());
  }

  async #tick(): Promise<void> {
    const { store, maxQueued } = this.#deps;
    const plan = (due: DueSchedule) => this.#plan(due);
    for (let batch = 0; batch < MAX_BATCHES && !this.#stopped; batch += 1) {
      const fired = await store.fireDue({ limit: BATCH, maxQueued }, plan);
      for (const each of fired) this.#tell(each);
      if (fired.length < BATCH) break;
    }
  }

  #plan(due: DueSchedule): FiringPlan {
    const { schedule, now } = due;
    try {
      return planFiring(due, (fireTime) => runOf(schedule, fireTime, now, this.#deps));
    } catch (error) {
      this.#deps.log.error(
        { scheduleId: schedule.id, err: error },
        'a schedule cannot be planned: it does not run again until somebody changes it',
      );
      return BROKEN;
    }
  }

  #tell({ schedule, now, firing }: Fired): void {
    const { queue, log, series } = this.#deps;
    const { id, tenantId, call } = schedule;
    for (const made of firing.calls) {
      queue.offer(made.id);
      const fireTime = made.schedule?.fireTime ?? now;
      series.runs.with('fired').add();
      series.lag.observe(Math.max(0, now - fireTime) / 1_000);
      const about = {
        scheduleId: id,
        callId: made.id,
        tenantId,
        tool: call.tool,
        fireTime: new Date(fireTime),
      };
      log.info(about, 'a schedule is due: its call was queued');
    }
    if (firing.status !== 'fired' && firing.status !== 'missed') series.runs.with(firing.status).add();
    if (firing.missed || firing.status === 'missed') series.runs.with('missed').add();
    if (firing.status === 'fired' && !firing.missed) return;
    const about = {
      scheduleId: id,
      tenantId,
      tool: call.tool,
      outcome: firing.status,
      missed: firing.missed,
    };
    log.warn(about, 'a due time of a schedule passed without a call');
  }
}
