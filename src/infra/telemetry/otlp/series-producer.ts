// SeriesProducer: the gateway's series as OpenTelemetry metrics, read when they are sent. Calls count them once, for Prometheus.
import { ValueType, type HrTime } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type DataPoint,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { ReadMetric, ReadSeries } from '../metric-series.ts';

/** Names that others look for, besides the gateway's own; `factor`: from its unit to theirs. */
const ALSO: Readonly<Record<string, readonly { name: string; unit: string; factor: number }[]>> = {
  ute_tool_calls_total: [{ name: 'tool.calls.count', unit: '1', factor: 1 }],
  ute_tool_call_errors_total: [{ name: 'tool.calls.errors', unit: '1', factor: 1 }],
  ute_tool_call_duration_seconds: [
    { name: 'tool.calls.latency_ms', unit: 'ms', factor: 1_000 },
    { name: 'gen_ai.execute_tool.duration', unit: 's', factor: 1 },
  ],
  ute_mcp_door_request_duration_seconds: [{ name: 'mcp.server.operation.duration', unit: 's', factor: 1 }],
};

export class SeriesProducer implements MetricProducer {
  readonly #read: () => Iterable<ReadMetric>;
  readonly #resource: Resource;
  readonly #startTime = timeOf(Date.now());

  constructor(read: () => Iterable<ReadMetric>, resource: Resource) {
    this.#read = read;
    this.#resource = resource;
  }

  collect(): Promise<CollectionResult> {
    const now = timeOf(Date.now());
    const metrics = [...this.#read()].flatMap((metric) => this.#dataOf(metric, now));
    const scopeMetrics = [{ scope: { name: 'unified-tool-executor' }, metrics }];
    return Promise.resolve({ resourceMetrics: { resource: this.#resource, scopeMetrics }, errors: [] });
  }

  #dataOf(metric: ReadMetric, now: HrTime): MetricData[] {
    const own = { name: metric.name, unit: unitOf(metric.name), factor: 1 };
    return [own, ...(ALSO[metric.name] ?? [])].map(({ name, unit, factor }): MetricData => {
      const descriptor = { name, unit, description: metric.help, valueType: ValueType.DOUBLE };
      const times = { startTime: this.#startTime, endTime: now };
      const points = <Value>(valueOf: (series: ReadSeries) => Value): DataPoint<Value>[] =>
        metric.series.map((series) => ({ ...times, attributes: series.labels, value: valueOf(series) }));
      const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
      if (metric.type === 'histogram')
        return {
          ...base,
          dataPointType: DataPointType.HISTOGRAM,
          dataPoints: points((series) => histogramOf(series, factor)),
        };
      const dataPoints = points(({ value }) => value * factor);
      if (metric.type === 'gauge') return { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
      return { ...base, dataPointType: DataPointType.SUM, dataPoints, isMonotonic: true };
    });
  }
}

function histogramOf({ value: sum, bounds, counts }: ReadSeries, factor: number): Histogram {
  return {
    buckets: { boundaries: bounds.map((bound) => bound * factor), counts: [...counts] },
    sum: sum * factor,
    count: counts.reduce((all, count) => all + count, 0),
    min: 0,
    max: 0,
    hasMinMax: false,
  } as Histogram;
}

function unitOf(name: string): string {
  if (/_seconds(?:_total)?$/.test(name)) return 's';
  return /_bytes(?:_total)?$/.test(name) ? 'By' : '1';
}

function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
}
