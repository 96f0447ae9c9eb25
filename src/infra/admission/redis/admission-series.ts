// The numbers of shared admission: whether it does without its store, and leases that were lost.
import type { Counter, Gauge, Metrics } from '../../../ports/telemetry/metrics.ts';
import { degradedGauge } from '../../telemetry/degraded-gauge.ts';
import { LIMITS_SERIES } from '../../../ports/telemetry/series/limits.ts';

export interface AdmissionSeries {
  readonly degraded: Gauge;
  readonly lost: Counter;
}

export function admissionSeries(metrics: Metrics): AdmissionSeries {
  const lost = metrics.counter(LIMITS_SERIES.ute_lease_lost_total).with();
  return { degraded: degradedGauge(metrics, 'admission'), lost };
}
