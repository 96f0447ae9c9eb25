// Specs of PrometheusMetrics.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrometheusMetrics } from './prometheus-metrics.ts';

describe('PrometheusMetrics', () => {
  it('writes counters, gauges and histograms in the text format', async () => {
    const metrics = new PrometheusMetrics();
    const calls = metrics.counter({ name: 'ute_calls_total', help: 'Calls.', labels: ['tool', 'outcome'] });
    calls.with('sum', 'ok').add();
    calls.with('sum', 'ok').add(2);
    calls.with('sum', 'TIMEOUT').add();
    const inflight = metrics.gauge({ name: 'ute_inflight', help: 'Now.' }).with();
    inflight.set(5);
    inflight.add(-2);
    const seconds = metrics.histogram({
      name: 'ute_seconds',
      help: 'Time.',
      labels: ['tool'],
      buckets: [0.1, 1],
    });
    for (const value of [0.05, 0.1, 0.5, 30]) seconds.with('sum').observe(value);
    expect(await metrics.exposition()).toEqual({
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      text: [
        '# HELP ute_calls_total Calls.',
        '# TYPE ute_calls_total counter',
        'ute_calls_total{tool="sum",outcome="ok"} 3',
        'ute_calls_total{tool="sum",outcome="TIMEOUT"} 1',
        '# HELP ute_inflight Now.',
        '# TYPE ute_inflight gauge',
        'ute_inflight 3',
        '# HELP ute_seconds Time.',
        '# TYPE ute_seconds histogram',
        'ute_seconds_bucket{tool="sum",le="0.1"} 2',
        'ute_seconds_bucket{tool="sum",le="1"} 3',
        'ute_seconds_bucket{tool="sum",le="+Inf"} 4',
        'ute_seconds_sum{tool="sum"} 30.65',
        'ute_seconds_count{tool="sum"} 4',
        '',
      ].join('\n'),
    });
  });

  it('writes OpenMetrics with the trace of the last call of each bucket, and says the same of counters', async () => {
    const metrics = new PrometheusMetrics();
    metrics.counter({ name: 'ute_calls_total', help: 'Calls.' }).with().add();
    const seconds = metrics.histogram({ name: 'ute_seconds', help: 'Time.', buckets: [1] }).with();
    seconds.observe(0.5, 'ab12');
    seconds.observe(7);
    metrics.collectProcessMetrics();
    const { contentType, text } = await metrics.exposition('openmetrics');
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(text).toMatch(/^# HELP ute_calls Calls\.\n# TYPE ute_calls counter\nute_calls_total 1\n/);
    expect(text).toMatch(/^ute_seconds_bucket\{le="1"\} 1 # \{trace_id="ab12"\} 0\.5 \d+(?:\.\d+)?$/m);
    expect(text).toMatch(/^ute_seconds_bucket\{le="\+Inf"\} 2$/m);
    expect(text).toMatch(/^# TYPE process_cpu_seconds counter\nprocess_cpu_seconds_total /m);
    expect(text).toMatch(/\n# EOF\n$/);
    expect(text).not.toMatch(/\n\n/);
    expect((await metrics.exposition()).text).toContain('# TYPE process_cpu_seconds_total counter');
  });

  it('counts any observations like a plain model: cumulative buckets, sum and count', async () => {
    const anyBuckets = fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(anyBuckets, fc.array(fc.integer({ min: -60, max: 60 })), async (bounds, values) => {
        const buckets = bounds.toSorted((one, other) => one - other);
        const metrics = new PrometheusMetrics();
        const handle = metrics.histogram({ name: 'h', help: '', buckets }).with();
        for (const value of values) handle.observe(value);
        const atMost = (bound: number) => values.filter((value) => value <= bound).length;
        const expected = [
          ...buckets.map((bound) => `h_bucket{le="${bound}"} ${atMost(bound)}`),
          `h_bucket{le="+Inf"} ${values.length}`,
          `h_sum ${values.reduce((sum, value) => sum + value, 0)}`,
          `h_count ${values.length}`,
        ];
        expect(linesOf((await metrics.exposition()).text)).toEqual(expected);
      }),
    );
  });

  it('escapes any label value so that it can be read back, and never lets one begin a line of its own', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '}', ',', '=', 'é') }),
        async (value) => {
          const metrics = new PrometheusMetrics();
          metrics
            .gauge({ name: 'g', help: 'a\\b\nc', labels: ['v', 'w'] })
            .with(value, 'x')
            .set(1);
          const { text } = await metrics.exposition();
          expect(text.split('\n')).toHaveLength(4);
          const written = /^g\{v="(?<v>(?:[^"\\\n]|\\["\\n])*)",w="x"\} 1$/m.exec(text)?.groups?.['v'];
          expect(written?.replaceAll(/\\(["\\n])/g, (_, char) => (char === 'n' ? '\n' : char))).toBe(value);
          expect(text).toContain('# HELP g a\\\\b\\nc\n');
        },
      ),
    );
  });

  it('gives the same series for the same values, and keeps values apart that only look alike when joined', async () => {
    const metrics = new PrometheusMetrics();
    const calls = metrics.counter({ name: 'c_total', help: '', labels: ['a', 'b'] });
    expect(calls.with('x', 'y')).toBe(calls.with('x', 'y'));
    expect(calls.with('x,', 'y')).not.toBe(calls.with('x', ',y'));
    expect(() => calls.with('x')).toThrow('c_total has 2 labels (a, b), but 1 values were given');
  });

  it('gathers tools beyond the five hundredth under _other, and leaves the other labels as they are', async () => {
    const metrics = new PrometheusMetrics();
    const calls = metrics.counter({ name: 'c_total', help: '', labels: ['tool', 'outcome'] });
    for (let index = 0; index < 600; index += 1) calls.with(`tool-${index}`, 'ok').add();
    calls.with('tool-1', 'TIMEOUT').add();
    calls.with('tool-555', 'TIMEOUT').add();
    const lines = linesOf((await metrics.exposition()).text);
    expect(lines).toHaveLength(500 + 1 + 2);
    expect(lines).toContain('c_total{tool="_other",outcome="ok"} 100');
    expect(lines).toContain('c_total{tool="_other",outcome="TIMEOUT"} 1');
    expect(lines).toContain('c_total{tool="tool-1",outcome="TIMEOUT"} 1');
  });

  it('bounds the series of a metric whatever its labels', async () => {
    const metrics = new PrometheusMetrics({ maxSeries: 2 });
    const calls = metrics.counter({ name: 'c_total', help: '', labels: ['reason'] });
    for (let index = 0; index < 10; index += 1) calls.with(`reason-${index}`).add();
    expect(linesOf((await metrics.exposition()).text)).toEqual([
      'c_total{reason="reason-0"} 1',
      'c_total{reason="reason-1"} 1',
      'c_total{reason="_other"} 8',
    ]);
  });

  it('leaves out numbers that make no sense: telemetry never fails a call', async () => {
    const metrics = new PrometheusMetrics();
    const counter = metrics.counter({ name: 'c_total', help: '' }).with();
    const gauge = metrics.gauge({ name: 'g', help: '' }).with();
    const histogram = metrics.histogram({ name: 'h', help: '', buckets: [1] }).with();
    for (const value of [Number.NaN, -1, Number.POSITIVE_INFINITY]) counter.add(value);
    for (const value of [Number.NaN, Number.NEGATIVE_INFINITY]) gauge.add(value);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) histogram.observe(value);
    gauge.set(Number.NaN);
    const zero = ['c_total 0', 'g 0', 'h_bucket{le="1"} 0', 'h_bucket{le="+Inf"} 0', 'h_sum 0', 'h_count 0'];
    expect(linesOf((await metrics.exposition()).text)).toEqual(zero);
    gauge.set(Number.POSITIVE_INFINITY);
    expect((await metrics.exposition()).text).toContain('\ng +Inf\n');
  });

  it('answers the same definition again with the same metric, and any other under its name with an error', () => {
    const metrics = new PrometheusMetrics();
    const definition = { name: 'x_total', help: 'X.', labels: ['a'] };
    expect(metrics.counter(definition)).toBe(metrics.counter({ ...definition }));
    expect(() => metrics.counter({ ...definition, labels: ['b'] })).toThrow('x_total is defined twice');
    expect(() => metrics.counter({ ...definition, help: 'Y.' })).toThrow('x_total is defined twice');
    expect(() => metrics.gauge(definition)).toThrow('x_total is defined twice');
  });

  it.each([
    { definition: { name: 'ute calls' }, message: '"ute calls" is not a metric name' },
    { definition: { name: 'process_calls' }, message: 'begins like the metrics of the process' },
    { definition: { labels: ['a-b'] }, message: '"a-b" of ute_x is not a label name' },
    { definition: { labels: ['a', 'a'] }, message: 'label "a" of ute_x is named twice' },
    { definition: { labels: ['le'] }, message: 'label "le" of ute_x is the histogram\'s own' },
    { definition: { buckets: [] }, message: 'buckets of ute_x must be finite and ascending, but are []' },
    { definition: { buckets: [1, 1] }, message: 'must be finite and ascending, but are [1, 1]' },
    { definition: { buckets: [1, Number.POSITIVE_INFINITY] }, message: 'but are [1, Infinity]' },
  ])('refuses a definition with $definition', ({ definition, message }) => {
    const metrics = new PrometheusMetrics();
    expect(() => metrics.histogram({ name: 'ute_x', help: 'X.', buckets: [1], ...definition })).toThrow(
      message,
    );
  });

  it('tells of the process only when asked to, and once however often it is asked', async () => {
    const metrics = new PrometheusMetrics();
    metrics.gauge({ name: 'g', help: '' }).with().set(1);
    expect((await metrics.exposition()).text).not.toContain('process_cpu_seconds_total');
    metrics.collectProcessMetrics();
    metrics.collectProcessMetrics();
    const { text } = await metrics.exposition();
    expect(text).toContain('\ng 1\n');
    expect(text.match(/^process_cpu_seconds_total /gm)).toHaveLength(1);
    expect(text).toContain('nodejs_eventloop_lag_seconds');
  });
});

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
