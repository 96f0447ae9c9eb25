// The series of one metric: values bound to labels once, cheap to change, read out when Prometheus asks.
import type { Counter, Gauge, Histogram, Labelled } from '../../ports/telemetry/metrics.ts';

/** One series as it stands; of a histogram `value` is the sum, and `counts` has one more than `bounds`. */
export interface ReadSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

export interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly series: readonly ReadSeries[];
}

/** Something with a value under one set of labels. */
export interface Series {
  read(): Omit<ReadSeries, 'labels'>;
  /** Its lines in Prometheus' text format. `labels` is as it stands between the braces, escaped, maybe empty. */
  text(name: string, labels: string, withExemplars?: boolean): string;
}

/** What takes the place of a label value that is one too many. */
export const OTHER = '_other';

export interface SeriesLimits {
  /** Series of one metric; whatever comes beyond shares one under `_other`. */
  readonly maxSeries: number;
  /** Different values of one label; the next ones become `_other`. */
  readonly maxLabelValues: Readonly<Record<string, number>>;
}

export class SeriesFamily<S extends Series> implements Labelled<S> {
  readonly #metric: string;
  readonly #labelNames: readonly string[];
  readonly #limits: SeriesLimits;
  readonly #make: () => S;
  /** Labels of every series, as they stand between the braces. */
  readonly #constant: string;
  readonly #series = new Map<
    string,
    { readonly values: readonly string[]; readonly labels: string; readonly series: S }
  >();
  readonly #seen = new Map<string, Set<string>>();

  constructor(
    metric: string,
    labelNames: readonly string[],
    limits: SeriesLimits,
    make: () => S,
    constant: Readonly<Record<string, string>> = {},
  ) {
    this.#constant = Object.entries(constant)
      .map(([name, value]) => `${name}="${escaped(value)}"`)
      .join(',');
    this.#metric = metric;
    this.#labelNames = labelNames;
    this.#limits = limits;
    this.#make = make;
  }

  with(...values: string[]): S {
    const names = this.#labelNames;
    if (values.length !== names.length) {
      throw new Error(
        `${this.#metric} has ${names.length} labels (${names.join(', ')}), but ${values.length} values were given`,
      );
    }
    const kept = values.map((value, index) => this.#bounded(names[index] ?? '', value));
    const known = this.#series.get(JSON.stringify(kept));
    if (known !== undefined) return known.series;
    return this.#series.size < this.#limits.maxSeries ? this.#add(kept) : this.#overflow();
  }

  text(withExemplars = false): string {
    let text = '';
    for (const { labels, series } of this.#series.values())
      text += series.text(this.#metric, labels, withExemplars);
    return text;
  }

  read(): readonly ReadSeries[] {
    return [...this.#series.values()].map(({ values, series }) => ({
      labels: Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index] ?? ''])),
      ...series.read(),
    }));
  }

  #bounded(label: string, value: string): string {
    const limit = this.#limits.maxLabelValues[label];
    if (limit === undefined) return value;
    const seen = this.#seen.get(label) ?? new Set();
    this.#seen.set(label, seen);
    if (!seen.has(value) && seen.size >= limit) return OTHER;
    seen.add(value);
    return value;
  }

  #overflow(): S {
    const others = this.#labelNames.map(() => OTHER);
    return this.#series.get(JSON.stringify(others))?.series ?? this.#add(others);
  }

  #add(values: readonly string[]): S {
    const own = this.#labelNames.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`);
    const labels = [this.#constant, ...own].filter((label) => label !== '').join(',');
    const series = this.#make();
    this.#series.set(JSON.stringify(values), { values, labels, series });
    return series;
  }
}

const NONE: readonly number[] = [];

/** Telemetry never fails a call: a number that makes no sense is left out, not thrown. */
export class CounterSeries implements Counter, Series {
  #value = 0;

  add(amount = 1): void {
    if (amount > 0 && amount < Number.POSITIVE_INFINITY) this.#value += amount;
  }

  read() {
    return { value: this.#value, bounds: NONE, counts: NONE };
  }

  text(name: string, labels: string): string {
    return line(name, labels, this.#value);
  }
}

export class GaugeSeries implements Gauge, Series {
  #value = 0;

  set(value: number): void {
    if (!Number.isNaN(value)) this.#value = value;
  }

  add(amount: number): void {
    if (Number.isFinite(amount)) this.#value += amount;
  }

  read() {
    return { value: this.#value, bounds: NONE, counts: NONE };
  }

  text(name: string, labels: string): string {
    return line(name, labels, this.#value);
  }
}

export class HistogramSeries implements Histogram, Series {
  readonly #bounds: readonly number[];
  /** One more than bounds: the last counts what is above them all. */
  readonly #counts: Float64Array;
  #sum = 0;
  /** By bucket, the last call whose trace is known. */
  #exemplars: (Exemplar | undefined)[] | undefined;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number, traceId = ''): void {
    if (!Number.isFinite(value)) return;
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += value;
    if (traceId !== '') (this.#exemplars ??= [])[bucket] = { traceId, value, at: Date.now() };
  }

  read() {
    return { value: this.#sum, bounds: this.#bounds, counts: [...this.#counts] };
  }

  text(name: string, labels: string, withExemplars = false): string {
    const before = labels === '' ? '' : `${labels},`;
    let text = '';
    let count = 0;
    for (const [bucket, inBucket] of this.#counts.entries()) {
      count += inBucket;
      const bound = this.#bounds[bucket] ?? '+Inf';
      const exemplar = withExemplars ? exemplarText(this.#exemplars?.[bucket]) : '';
      text += line(`${name}_bucket`, `${before}le="${bound}"`, count, exemplar);
    }
    return text + line(`${name}_sum`, labels, this.#sum) + line(`${name}_count`, labels, count);
  }
}

function line(name: string, labels: string, value: number, exemplar = ''): string {
  const series = labels === '' ? name : `${name}{${labels}}`;
  return `${series} ${numberText(value)}${exemplar}\n`;
}

/** One measurement with the trace that it was made in. */
interface Exemplar {
  readonly traceId: string;
  readonly value: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return '';
  const { traceId, value, at } = exemplar;
  return ` # {trace_id="${escaped(traceId)}"} ${numberText(value)} ${at / 1000}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return `${value}`;
  return value > 0 ? '+Inf' : '-Inf';
}

function escaped(labelValue: string): string {
  return labelValue.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
