// The series of remote documents: how fetches end.
import type { Metrics } from '../../ports/telemetry/metrics.ts';

export interface FetchMetrics {
  record(outcome: 'changed' | 'unchanged' | 'failed'): void;
}

export function fetchMetrics(metrics: Metrics, source: string): FetchMetrics {
  const fetches = metrics.counter({
    name: 'ute_loader_fetches_total',
    help: 'Looks of loaders at remote sources, by outcome.',
    labels: ['loader', 'source', 'outcome'],
  });
  const outcomes = {
    changed: fetches.with('http', source, 'changed'),
    unchanged: fetches.with('http', source, 'unchanged'),
    failed: fetches.with('http', source, 'failed'),
  };
  return { record: (outcome) => outcomes[outcome].add() };
}
