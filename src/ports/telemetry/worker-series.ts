// Series of the executors that keep worker processes: the same names, told apart by their executor.
import type { Counter, Gauge, Labelled, Metrics } from './metrics.ts';
import { TOOLS_SERIES } from './series/tools.ts';

export interface WorkerSeries {
  /** Worker processes that are ready. */
  readonly workers: Gauge;
  /** By executor and reason. */
  readonly restarts: Labelled<Counter>;
}

export function workerSeries(metrics: Metrics, executor: string): WorkerSeries {
  const workers = metrics.gauge(TOOLS_SERIES.ute_executor_workers);
  const restarts = metrics.counter(TOOLS_SERIES.ute_executor_worker_restarts_total);
  // The first of them is growth already: what is counted before the first scrape would not be.
  for (const reason of ['died', 'start_failed']) restarts.with(executor, reason);
  return { workers: workers.with(executor), restarts };
}
