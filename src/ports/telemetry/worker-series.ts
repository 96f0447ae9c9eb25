// Series of the executors that keep worker processes: the same names, told apart by their executor.
import type { Counter, Gauge, Labelled, Metrics } from './metrics.ts';

export interface WorkerSeries {
  /** Worker processes that are ready. */
  readonly workers: Gauge;
  /** By executor and reason. */
  readonly restarts: Labelled<Counter>;
}

export function workerSeries(metrics: Metrics, executor: string): WorkerSeries {
  const workers = metrics.gauge({
    name: 'ute_executor_workers',
    help: 'Worker processes that are ready, by executor.',
    labels: ['executor'],
  });
  const restarts = metrics.counter({
    name: 'ute_executor_worker_restarts_total',
    help: 'Worker processes that ended and were replaced, by executor and reason.',
    labels: ['executor', 'reason'],
  });
  return { workers: workers.with(executor), restarts };
}
