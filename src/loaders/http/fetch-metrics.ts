// The series of remote documents: how fetches end, and whether an older document stands in for the source.
import type { Metrics } from '../../ports/telemetry/metrics.ts';

export interface FetchMetrics {
  record(outcome: 'changed' | 'unchanged' | 'failed'): void;
  stale(isStale: boolean): void;
}

export function fetchMetrics(metrics: Metrics, source: string): FetchMetrics {
  const fetches = metrics.counter({
    name: 'ute_loader_fetches_total',
    help: 'Looks of loaders at remote sources, by outcome.',
    labels: ['loader', 'source', 'outcome'],
  });
  const stale = metrics
    .gauge({
      name: 'ute_loader_source_stale',
      help: '1 while a remote source cannot be used and its last good document stays in force.',
      labels: ['loader', 'source'],
    })
    .with('http', source);
  const outcomes = {
    changed: fetches.with('http', source, 'changed'),
    unchanged: fetches.with('http', source, 'unchanged'),
    failed: fetches.with('http', source, 'failed'),
  };
  return {
    record: (outcome) => outcomes[outcome].add(),
    stale: (isStale) => stale.set(isStale ? 1 : 0),
  };
}
