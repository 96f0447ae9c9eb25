// The series of schedules: what became of the moments they were due, how late that was, and how the schedules stand.
import { every } from '../lib/timers/every.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { Counter, Histogram, Labelled, Metrics } from '../ports/telemetry/metrics.ts';
import type { ScheduleStore } from '../ports/calls/schedule-store.ts';

export interface ScheduleSeries {
  readonly runs: Labelled<Counter>;
  readonly lag: Histogram;
}

export function scheduleSeries(metrics: Metrics): ScheduleSeries {
  const runs = metrics.counter({
    name: 'ute_schedule_runs_total',
    help: 'Moments that schedules were due, by what became of them; missed counts each gap once. By the replica that saw to it.',
    labels: ['outcome'],
  });
  for (const outcome of ['fired', 'missed', 'skipped_overlap', 'dropped', 'broken']) runs.with(outcome);
  const lag = metrics.histogram({
    name: 'ute_schedule_lag_seconds',
    help: 'From the moment that a schedule is due until its call is there.',
    buckets: [0.25, 0.5, 1, 2, 5, 15, 60, 300, 3_600],
  });
  return { runs, lag: lag.with() };
}

export interface CountsDeps {
  readonly store: ScheduleStore;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_MS = 30_000;

/** Every replica shows the same. The returned function ends it. */
export function showSchedules({ store, metrics, clock, log }: CountsDeps): () => void {
  const gauge = metrics.gauge({
    name: 'ute_schedules',
    help: 'Schedules over all replicas: enabled; failing, whose last run did not succeed; overdue, due for over a minute.',
    labels: ['state'],
  });
  const show = async () => {
    const { enabled, failing, overdue } = await store.counts();
    gauge.with('enabled').set(enabled);
    gauge.with('failing').set(failing);
    gauge.with('overdue').set(overdue);
  };
  const failed = (error: unknown) => log.debug({ err: error }, 'the schedules could not be counted');
  const looks = every(clock, { ms: LOOK_MS }, show, failed);
  return () => void looks.stop();
}
