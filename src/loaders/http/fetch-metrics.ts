// The series of remote documents: how fetches end.
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';

export interface FetchMetrics {
  record(outcome: 'changed' | 'unchanged' | 'failed'): void;
}

export function fetchMetrics(metrics: Metrics, source: string): FetchMetrics {
  const fetches = metrics.counter(TOOLS_SERIES.ute_loader_fetches_total);
  const outcomes = {
    changed: fetches.with('http', source, 'changed'),
    unchanged: fetches.with('http', source, 'unchanged'),
    failed: fetches.with('http', source, 'failed'),
  };
  return { record: (outcome) => outcomes[outcome].add() };
}
