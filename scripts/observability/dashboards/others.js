// What no other dashboard shows yet: one chart for each of those series, made from the table, so that a new one is seen at once.
import { ALL_SERIES } from '../../../dist/ports/telemetry/series/all-series.js';
import { chart, dashboard, of, percentiles, query, rate } from './panels.js';

/** `shown`: names that others ask for. */
export function others(shown) {
  const missing = Object.values(ALL_SERIES).filter(({ name }) => !shown.has(name));
  return dashboard({
    uid: 'ute-others',
    title: 'UTE / Other series',
    description: 'Series that are on no other dashboard.',
    panels: missing.map(chartOf),
  });
}

function chartOf({ name, type, help, labels = [] }) {
  const by = labels.length === 0 ? '' : ` by (${labels.join(', ')})`;
  const legend = labels.map((label) => `{{${label}}}`).join(' ');
  if (type === 'histogram') return chart(name, help, percentiles(name));
  const expr = type === 'counter' ? `sum${by} (${rate(name)})` : `max${by} (${of(name)})`;
  return chart(name, help, [query(expr, legend)]);
}
