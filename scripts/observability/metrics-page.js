// docs/reference/metrics.md: every series with its meaning, and the alerts that ask for it.
import { SERIES_BY_AREA } from '../../dist/ports/telemetry/series/all-series.js';
import { ALL_ALERTS } from './alerts.js';
import { checkQuery } from './check-queries.js';
import { RECORDED } from './slo.js';

const HEAD = `# Metrics

Served on the metrics port, \`GET /metrics\`, as Prometheus' text or, where that is asked for, as OpenMetrics with exemplars
(\`trace_id\`). At most 500 tools and 500 tenants have series of their own, and a metric has at most 10 000; what comes beyond is counted
under \`_other\`. What Node tells of the process (\`process_…\`, \`nodejs_…\`) is there as well. What an alert says, and what to do then:
[runbooks](../runbooks/README.md).
`;

/** Of recorded ratios, the series that they are made from. */
function askedBy() {
  const alerts = new Map();
  const recorded = new Map(RECORDED.map(({ record, expr }) => [record, checkQuery(expr)]));
  for (const { alert, expr, runbook } of ALL_ALERTS) {
    const names = checkQuery(expr).flatMap((name) => recorded.get(name) ?? [name]);
    const link = `[${alert}](${runbook.replace('docs/', '../')})`;
    for (const name of new Set(names)) alerts.set(name, [...(alerts.get(name) ?? []), link]);
  }
  return alerts;
}

export function metricsPage(note, table) {
  const alerts = askedBy();
  const parts = Object.entries(SERIES_BY_AREA).map(([area, series]) => {
    const rows = Object.values(series).map(({ name, type, help, labels = [] }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', ') || '–',
      help.replaceAll('|', '\\|'),
      alerts.get(name)?.join(', ') ?? '–',
    ]);
    return `\n## ${area}\n\n${table(['series', 'type', 'labels', 'meaning', 'alerts'], rows)}`;
  });
  return `${note}${HEAD}${parts.join('')}`;
}
