// deploy/prometheus: the recording rules and the alerts, as Prometheus reads them.
import { stringify } from 'yaml';
import { ALERTS, ALL_ALERTS } from './alerts.js';
import { checkQuery } from './check-queries.js';
import { RECORDED } from './slo.js';

const NOTE = '# Written by `npm run generate` from scripts/observability/alerts.js. Do not edit.\n';
const yaml = (document) => NOTE + stringify(document, { lineWidth: 0 });

export function recordingRules() {
  for (const { expr } of RECORDED) checkQuery(expr);
  return yaml({ groups: [{ name: 'ute-slo', interval: '30s', rules: RECORDED }] });
}

export function alertRules() {
  const groups = Object.keys(ALERTS).map((runbook) => ({
    name: `ute-${runbook}`,
    rules: ALL_ALERTS.filter((each) => each.runbook.startsWith(`docs/runbooks/${runbook}.md`)).map(ruleOf),
  }));
  return yaml({ groups });
}

function ruleOf({ alert, expr, for: wait, severity, summary, description, runbook }) {
  checkQuery(expr);
  return {
    alert,
    expr,
    ...(wait !== '0m' && { for: wait }),
    labels: { severity },
    annotations: { summary, description, runbook_url: runbook },
  };
}
