// The numbers of admission: whom limits refused, how long others waited, how many run now.
import type { Counter, Gauge, Histogram, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';

export interface AdmissionMetrics {
  readonly refused: Readonly<Record<'rate' | 'concurrency', Counter>>;
  /** By budget. */
  readonly spent: Labelled<Counter>;
  readonly shadowRefused: Counter;
  readonly waited: Histogram;
  /** By tool. */
  readonly inUse: Labelled<Gauge>;
}

export function admissionMetrics(metrics: Metrics): AdmissionMetrics {
  const refused = metrics.counter({
    name: 'ute_rate_limited_total',
    help: 'Calls refused by a limit, by kind (rate or concurrency).',
    labels: ['kind'],
  });
  const spent = metrics.counter({
    name: 'ute_budget_refusals_total',
    help: 'Calls refused because a budget had too little left, by budget.',
    labels: ['budget'],
  });
  const shadowRefused = metrics
    .counter({
      name: 'ute_rate_limit_shadow_total',
      help: 'Calls that rate limits in shadow mode would have refused.',
    })
    .with();
  const waited = metrics
    .histogram({
      name: 'ute_queue_wait_seconds',
      help: 'Time that admitted calls waited for a free slot.',
      buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    })
    .with();
  const inUse = metrics.gauge({
    name: 'ute_concurrency_in_use',
    help: 'Calls of this process that hold a slot of a concurrency limit now, by tool.',
    labels: ['tool'],
  });
  return {
    refused: { rate: refused.with('rate'), concurrency: refused.with('concurrency') },
    spent,
    shadowRefused,
    waited,
    inUse,
  };
}
