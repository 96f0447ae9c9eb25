// The series of schedules: what became of the moments they were due, how late that was, and how the schedules stand.
import { every } from '../lib/timers/every.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { Counter, Histogram, Labelled, Metrics } from '../ports/telemetry/metrics.ts';
import type { ScheduleStore } from '../ports/calls/schedule-store.ts';
import { DEFERRED_SERIES } from '../ports/telemetry/series/deferred.ts';

export interface ScheduleSeries {
  readonly runs: Labelled<Counter>;
  readonly lag: Histogram;
}

export function scheduleSeries(metrics: Metrics): ScheduleSeries {
  const runs = metrics.counter(DEFERRED_SERIES.ute_schedule_runs_total);
  for (const outcome of ['fired', 'missed', 'skipped_overlap', 'dropped', 'broken']) runs.with(outcome);
  const lag = metrics.histogram(DEFERRED_SERIES.ute_schedule_lag_seconds);
  return { runs, lag: lag.with() };
}

/** made, changed, deleted. */
export type ChangeSeries = Labelled<Counter>;

export function changeSeries(metrics: Metrics): ChangeSeries {
  const changes = metrics.counter(DEFERRED_SERIES.ute_schedule_changes_total);
  for (const change of ['made', 'changed', 'deleted']) changes.with(change);
  return changes;
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
  const gauge = metrics.gauge(DEFERRED_SERIES.ute_schedules);
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
