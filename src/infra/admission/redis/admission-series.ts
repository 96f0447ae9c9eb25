// The numbers of shared admission: whether it does without its store, and leases that were lost.
import type { Counter, Gauge, Metrics } from '../../../ports/telemetry/metrics.ts';
import { degradedGauge } from '../../telemetry/degraded-gauge.ts';

export interface AdmissionSeries {
  readonly degraded: Gauge;
  readonly lost: Counter;
}

export function admissionSeries(metrics: Metrics): AdmissionSeries {
  const lost = metrics
    .counter({
      name: 'ute_lease_lost_total',
      help: 'Concurrency leases of running calls that another call may have got.',
    })
    .with();
  return { degraded: degradedGauge(metrics, 'admission'), lost };
}
