// PrometheusMetrics: the Metrics port in Prometheus' text format; what is known of the process comes from prom-client.
import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type {
  Counter,
  Gauge,
  Histogram,
  Labelled,
  MetricDefinition,
  Metrics,
} from '../../ports/telemetry/metrics.ts';
import {
  CounterSeries,
  GaugeSeries,
  HistogramSeries,
  SeriesFamily,
  type ReadMetric,
  type Series,
  type SeriesLimits,
} from './metric-series.ts';

type MetricType = 'counter' | 'gauge' | 'histogram';
type HistogramDefinition = MetricDefinition & { readonly buckets: readonly number[] };

interface Defined {
  readonly fingerprint: string;
  readonly type: MetricType;
  readonly help: string;
  readonly head: string;
  readonly family: SeriesFamily<Series>;
}

/** The names that prom-client gives to what it knows of the process. */
const PROCESS_METRIC = /^(process|nodejs)_/;
/** Gauges with the name of a counter, which say no more than those of the same name without _total. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const DEFAULT_LIMITS: SeriesLimits = { maxSeries: 10_000, maxLabelValues: { tool: 500, tenant: 500 } };

/**
 * Calls are counted here and not in prom-client's own metrics. Those hash the labels on every change, at 300 to
 * 470 ns each where a bound series takes about 10, and write a scrape of 500 tools in 65 ms where this takes a
 * few: time in which no call moves on.
 */
export class PrometheusMetrics implements Metrics {
  readonly #process = new Registry();
  readonly #limits: SeriesLimits;
  readonly #constant: Readonly<Record<string, string>>;
  readonly #defined = new Map<string, Defined>();

  /** `constant`: labels of every series in the exposition, whose it is. */
  constructor(limits: Partial<SeriesLimits> = {}, constant: Readonly<Record<string, string>> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#constant = constant;
    this.#process.setDefaultLabels(constant);
  }

  counter(definition: MetricDefinition): Labelled<Counter> {
    return this.#define('counter', definition, [], () => new CounterSeries());
  }

  gauge(definition: MetricDefinition): Labelled<Gauge> {
    return this.#define('gauge', definition, [], () => new GaugeSeries());
  }

  histogram(definition: HistogramDefinition): Labelled<Histogram> {
    const { buckets } = definition;
    return this.#define('histogram', definition, buckets, () => new HistogramSeries(buckets));
  }

  /** Adds what prom-client knows of the process: CPU, memory, event loop lag, garbage collection. Once is enough. */
  collectProcessMetrics(): void {
    if (this.#process.getMetricsAsArray().length > 0) return;
    collectDefaultMetrics({ register: this.#process });
    for (const name of MISNAMED) this.#process.removeSingleMetric(name);
  }

  /** As they stand, for those who send them elsewhere. What prom-client knows of the process is not among them. */
  *read(): Generator<ReadMetric> {
    for (const [name, { type, help, family }] of this.#defined)
      yield { name, help, type, series: family.read() };
  }

  /** OpenMetrics has exemplars: the trace of a call that fell into a bucket. Prometheus asks for it by itself. */
  async exposition(format: 'text' | 'openmetrics' = 'text'): Promise<{ contentType: string; text: string }> {
    const isOpen = format === 'openmetrics';
    let text = '';
    for (const { head, family } of this.#defined.values()) {
      text += isOpen ? inOpenMetrics(head) + family.text(true) : head + family.text();
      // Calls move on between two metrics.
      await yieldToLoop();
    }
    if (this.#process.getMetricsAsArray().length > 0) {
      const ofProcess = await this.#process.metrics();
      text += isOpen ? inOpenMetrics(ofProcess) : ofProcess;
    }
    if (isOpen) return { contentType: Registry.OPENMETRICS_CONTENT_TYPE, text: `${text}# EOF\n` };
    return { contentType: this.#process.contentType, text };
  }

  #define<S extends Series>(
    type: MetricType,
    { name, help, labels = [] }: MetricDefinition,
    buckets: readonly number[],
    make: () => S,
  ): Labelled<S> {
    const fingerprint = JSON.stringify([type, help, labels, buckets]);
    const known = this.#defined.get(name);
    if (known !== undefined) {
      // Equal fingerprints have equal types, and a type has one kind of series.
      if (known.fingerprint === fingerprint) return known.family as SeriesFamily<S>;
      throw new Error(`metric ${name} is defined twice, and not in the same way: a metric has one owner`);
    }
    checkNames(name, labels, type);
    checkBuckets(name, buckets, type);
    const family = new SeriesFamily(name, labels, this.#limits, make, this.#constant);
    this.#defined.set(name, { fingerprint, type, help, family, head: headOf(type, name, help) });
    return family;
  }
}

/**
 * There, a counter's name is without _total in what is said of it, and no line is empty. Not by prom-client's own writer, which
 * renames its counters for good.
 */
function inOpenMetrics(text: string): string {
  return text
    .replaceAll(/^# HELP (\S+)_total (.*\n# TYPE \1)_total counter$/gm, '# HELP $1 $2 counter')
    .replaceAll(/\n{2,}/g, '\n');
}

function headOf(type: MetricType, name: string, help: string): string {
  const oneLine = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${oneLine}\n# TYPE ${name} ${type}\n`;
}

function checkNames(name: string, labels: readonly string[], type: MetricType): void {
  if (!METRIC_NAME.test(name))
    throw new Error(`"${name}" is not a metric name: letters, digits, _ and : only`);
  if (PROCESS_METRIC.test(name))
    throw new Error(`"${name}" begins like the metrics of the process: take another name`);
  for (const [index, label] of labels.entries()) {
    if (!LABEL_NAME.test(label))
      throw new Error(`"${label}" of ${name} is not a label name: letters, digits and _ only`);
    if (labels.indexOf(label) < index) throw new Error(`label "${label}" of ${name} is named twice`);
    if (type === 'histogram' && label === 'le')
      throw new Error(`label "le" of ${name} is the histogram's own`);
  }
}

function checkBuckets(name: string, buckets: readonly number[], type: MetricType): void {
  if (type !== 'histogram') return;
  const ascending = buckets.every(
    (bound, index) => Number.isFinite(bound) && bound > (buckets[index - 1] ?? -Infinity),
  );
  if (buckets.length === 0 || !ascending) {
    throw new Error(`buckets of ${name} must be finite and ascending, but are [${buckets.join(', ')}]`);
  }
}
