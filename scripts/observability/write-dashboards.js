// deploy/grafana: the dashboards, as Grafana reads them. Each query is checked against the table of series first.
import { checkQuery } from './check-queries.js';
import { others } from './dashboards/others.js';
import { overview } from './dashboards/overview.js';
import { reliability } from './dashboards/reliability.js';
import { slo } from './dashboards/slo.js';
import { tenants } from './dashboards/tenants.js';
import { tool } from './dashboards/tool.js';

const DASHBOARDS = [overview, tool, reliability, slo, tenants];

/** The text of each file by its path. */
export function dashboardFiles() {
  const shown = new Set(DASHBOARDS.flatMap(seriesOn));
  const rest = others(shown);
  seriesOn(rest);
  const all = rest.panels.length === 0 ? DASHBOARDS : [...DASHBOARDS, rest];
  return Object.fromEntries(
    all.map((dashboard) => [
      `deploy/grafana/${dashboard.uid}.json`,
      `${JSON.stringify(dashboard, null, 2)}\n`,
    ]),
  );
}

/** Throws Error for a query about what there is not. */
function seriesOn({ panels }) {
  return panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => checkQuery(expr)));
}
