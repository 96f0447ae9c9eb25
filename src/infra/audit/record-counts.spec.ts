import { describe, expect, it } from 'vitest';
import { PrometheusMetrics } from '../telemetry/prometheus-metrics.ts';
import { recordCounts } from './record-counts.ts';

describe('recordCounts', () => {
  it('every series of records is there at 0 from the start: a rate sees the first loss', () => {
    const port = new PrometheusMetrics();
    recordCounts(port);
    const shown = [...port.read()].filter(({ name }) => name.startsWith('ute_audit_'));
    expect(
      shown.map(({ name, series }) => [name, series.map((each) => 'value' in each && each.value)]),
    ).toEqual(
      [
        'ute_audit_records_total',
        'ute_audit_dropped_total',
        'ute_audit_omitted_total',
        'ute_audit_refused_calls_total',
        'ute_audit_rejected_total',
        'ute_audit_pending_records',
        'ute_audit_lag_seconds',
      ].map((name) => [name, [0]]),
    );
  });
});
