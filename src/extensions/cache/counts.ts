// Counts of the cache, by tool and by what became of a call there.
import type { Counter, Metrics } from '../../ports/telemetry/metrics.ts';
import { CALLS_SERIES } from '../../ports/telemetry/series/calls.ts';

const RESULTS = ['hit', 'miss', 'shared', 'stale', 'bypass', 'error'] as const;

export type Counts = Readonly<Record<(typeof RESULTS)[number], Counter>>;

export function countersOf(metrics: Metrics): (tool: string) => Counts {
  const counter = metrics.counter(CALLS_SERIES.ute_cache_requests_total);
  const known = new Map<string, Counts>();
  return (tool) => {
    let counts = known.get(tool);
    if (counts === undefined) {
      counts = Object.fromEntries(RESULTS.map((result) => [result, counter.with(tool, result)])) as Counts;
      known.set(tool, counts);
    }
    return counts;
  };
}
