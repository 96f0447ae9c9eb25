// The numbers of admission: whom limits refused, how long others waited, how many run now.
import type { Counter, Gauge, Histogram, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import { LIMITS_SERIES } from '../../ports/telemetry/series/limits.ts';

export interface AdmissionMetrics {
  readonly refused: Readonly<Record<'rate' | 'concurrency', Counter>>;
  /** By budget. */
  readonly spent: Labelled<Counter>;
  readonly shadowRefused: Counter;
  readonly waited: Histogram;
  /** By tool. */
  readonly inUse: Labelled<Gauge>;
  /** By tool. */
  readonly limit: Labelled<Gauge>;
}

export function admissionMetrics(metrics: Metrics): AdmissionMetrics {
  const refused = metrics.counter(LIMITS_SERIES.ute_rate_limited_total);
  const spent = metrics.counter(LIMITS_SERIES.ute_budget_refusals_total);
  const shadowRefused = metrics.counter(LIMITS_SERIES.ute_rate_limit_shadow_total).with();
  const waited = metrics.histogram(LIMITS_SERIES.ute_queue_wait_seconds).with();
  const inUse = metrics.gauge(LIMITS_SERIES.ute_concurrency_in_use);
  return {
    refused: { rate: refused.with('rate'), concurrency: refused.with('concurrency') },
    spent,
    shadowRefused,
    waited,
    inUse,
    limit: metrics.gauge(LIMITS_SERIES.ute_concurrency_limit),
  };
}
