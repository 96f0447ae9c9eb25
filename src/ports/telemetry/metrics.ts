// Metrics: counters, gauges and histograms. Labels are bound once, at load; the returned handle is cheap.

export interface Metrics {
  counter(definition: MetricDefinition): Labelled<Counter>;
  gauge(definition: MetricDefinition): Labelled<Gauge>;
  histogram(definition: MetricDefinition & { readonly buckets: readonly number[] }): Labelled<Histogram>;
}

export interface MetricDefinition {
  /** Prometheus name with prefix and base unit: ute_tool_calls_total. Defined once, by one owner. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface Labelled<Handle> {
  /** Values in the order of `labels`. The same values give the same series. */
  with(...values: string[]): Handle;
}

export interface Counter {
  add(amount?: number): void;
}
export interface Gauge {
  set(value: number): void;
  add(amount: number): void;
}
export interface Histogram {
  observe(value: number): void;
}
