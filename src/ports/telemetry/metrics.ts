// Metrics: counters, gauges and histograms. Labels are bound once, at load; the returned handle is cheap.

export interface Metrics {
  counter(definition: MetricDefinition & OfType<'counter'>): Labelled<Counter>;
  gauge(definition: MetricDefinition & OfType<'gauge'>): Labelled<Gauge>;
  histogram(
    definition: MetricDefinition & OfType<'histogram'> & { readonly buckets: readonly number[] },
  ): Labelled<Histogram>;
}

/** The gateway's own definitions, in series/, say what they are: one that is asked for as something else does not compile. */
interface OfType<Type extends string> {
  readonly type?: Type;
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
  /** `traceId`: of the call that was measured, so that a number leads to its trace. */
  observe(value: number, traceId?: string): void;
}
