// What is counted of audit records, and shown of those that are not in the database yet.
import type { Counter, Gauge, Metrics } from '../../ports/telemetry/metrics.ts';
import { RECORDS_SERIES } from '../../ports/telemetry/series/records.ts';
import { degradedGauge } from '../telemetry/degraded-gauge.ts';

export interface RecordCounts {
  readonly accepted: Counter;
  readonly dropped: Counter;
  readonly omitted: Counter;
  readonly refused: Counter;
  readonly rejected: Counter;
  readonly degraded: Gauge;
  readonly pending: Gauge;
  readonly lag: Gauge;
}

export function recordCounts(metrics: Metrics): RecordCounts {
  return {
    accepted: metrics.counter(RECORDS_SERIES.ute_audit_records_total).with(),
    dropped: metrics.counter(RECORDS_SERIES.ute_audit_dropped_total).with(),
    omitted: metrics.counter(RECORDS_SERIES.ute_audit_omitted_total).with(),
    refused: metrics.counter(RECORDS_SERIES.ute_audit_refused_calls_total).with(),
    rejected: metrics.counter(RECORDS_SERIES.ute_audit_rejected_total).with(),
    degraded: degradedGauge(metrics, 'audit'),
    pending: metrics.gauge(RECORDS_SERIES.ute_audit_pending_records).with(),
    lag: metrics.gauge(RECORDS_SERIES.ute_audit_lag_seconds).with(),
  };
}
