// Expositions of several processes become one: each metric described once, its lines together.
import { expect, it } from 'vitest';
import { PrometheusMetrics } from '../../../infra/telemetry/prometheus-metrics.ts';
import { mergeExpositions } from './merge-expositions.ts';

const of = (index: number) =>
  `# HELP a A.\n# TYPE a counter\na{process="${index}"} ${index}\n# HELP b B.\n# TYPE b gauge\nb{process="${index}"} 0\n`;

it('puts the lines of one metric together, and describes it once', () => {
  expect(mergeExpositions([of(1), of(2)], 'text')).toBe(
    '# HELP a A.\n# TYPE a counter\na{process="1"} 1\na{process="2"} 2\n# HELP b B.\n# TYPE b gauge\nb{process="1"} 0\nb{process="2"} 0\n',
  );
});

it('keeps what one alone has, and writes the end of OpenMetrics once', () => {
  const only = '# HELP c C.\n# TYPE c gauge\nc{process="2"} 3\n# EOF\n';
  expect(mergeExpositions([`${of(1)}# EOF\n`, only], 'openmetrics')).toBe(`${of(1)}${only}`);
});

it('takes what the gateway writes as it is', async () => {
  const metrics = new PrometheusMetrics({}, { process: '1' });
  metrics
    .counter({ name: 'ute_x_total', help: 'X.', labels: ['tool'] })
    .with('a"b')
    .add();
  metrics
    .histogram({ name: 'ute_y_seconds', help: 'Y.', buckets: [1] })
    .with()
    .observe(0.5);
  const { text } = await metrics.exposition();
  expect(mergeExpositions([text], 'text')).toBe(text);
  expect(text).toContain('ute_x_total{process="1",tool="a\\"b"} 1\n');
  expect(text).toContain('ute_y_seconds_bucket{process="1",le="1"} 1\n');
});
