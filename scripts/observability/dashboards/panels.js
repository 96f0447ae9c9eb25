// Parts of dashboards: queries, panels, rows, and the JSON that Grafana reads them from: with every option that its schema requires, which
// test/deploy/dashboards.test.ts holds them to.
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const SCHEMA_VERSION = 39;
const WIDTH = 24;

/** A series of the installation that is chosen above; `matchers` narrow it. */
export const of = (series, matchers) =>
  `${series}{namespace=~"$namespace",job=~"$job"${matchers === undefined ? '' : `,${matchers}`}}`;
export const rate = (series, matchers) => `rate(${of(series, matchers)}[$__rate_interval])`;
export const increase = (series, window, matchers) => `increase(${of(series, matchers)}[${window}])`;
export const quantile = (q, series, by = 'le', matchers) =>
  `histogram_quantile(${q}, sum by (${by}) (${rate(`${series}_bucket`, matchers)}))`;

/** 50th, 95th and 99th percentile of a histogram, with exemplars that lead to traces. */
export const percentiles = (series, matchers) =>
  [0.5, 0.95, 0.99].map((q) => ({
    ...query(quantile(q, series, 'le', matchers), `p${q * 100}`),
    exemplar: true,
  }));

export const query = (expr, legend = '') => ({ expr, legendFormat: legend });

const panel = (
  type,
  title,
  description,
  queries,
  { unit = 'short', w = 8, h = 8, thresholds, ...more } = {},
) => ({
  type,
  title,
  description,
  w,
  h,
  targets: queries,
  fieldConfig: {
    defaults: {
      unit,
      ...(thresholds !== undefined && { thresholds: stepsOf(thresholds) }),
      ...more.defaults,
    },
    overrides: [],
  },
  options: more.options ?? {},
});

const stepsOf = ([ok, ...worse]) => ({
  mode: 'absolute',
  steps: [{ color: ok, value: null }, ...worse.map(([value, color]) => ({ color, value }))],
});

export const chart = (title, description, queries, more = {}) =>
  panel('timeseries', title, description, queries, {
    options: {
      legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'none' },
    },
    ...more,
  });
export const stat = (title, description, expr, more = {}) =>
  panel('stat', title, description, [query(expr)], {
    w: 4,
    h: 4,
    options: {
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
      colorMode: 'value',
      graphMode: 'area',
      justifyMode: 'auto',
      orientation: 'auto',
      percentChangeColorMode: 'standard',
      showPercentChange: false,
      textMode: 'auto',
      wideLayout: true,
    },
    ...more,
  });
export const table = (title, description, expr, more = {}) => {
  const options = { frameIndex: 0, showHeader: true };
  const made = panel('table', title, description, [query(expr)], { options, ...more });
  return { ...made, targets: made.targets.map((each) => ({ ...each, instant: true, format: 'table' })) };
};
export const row = (title) => ({ type: 'row', title, w: WIDTH, h: 1, collapsed: false, panels: [] });

const variable = (name, label, of_) => ({
  name,
  label,
  type: 'query',
  datasource: DATASOURCE,
  query: { query: of_, refId: name },
  refresh: 2,
  sort: 1,
  includeAll: true,
  multi: true,
  allValue: '.*',
  current: { text: 'All', value: '$__all' },
});

const VARIABLES = [
  {
    name: 'datasource',
    label: 'Prometheus',
    type: 'datasource',
    query: 'prometheus',
    current: { text: 'default', value: 'default' },
  },
  variable('namespace', 'Namespace', 'label_values(ute_build_info, namespace)'),
  variable('job', 'Gateway', 'label_values(ute_build_info{namespace=~"$namespace"}, job)'),
];
export const TOOL = variable('tool', 'Tool', 'label_values(ute_tool_calls_total{job=~"$job"}, tool)');

/** Panels stand beside each other until a line is full. */
function placed(panels) {
  let x = 0, y = 0, tallest = 0; // oxfmt-ignore
  return panels.map(({ w, h, ...each }, index) => {
    if (x + w > WIDTH) {
      y += tallest;
      x = tallest = 0;
    }
    const gridPos = { x, y, w, h };
    x += w;
    tallest = Math.max(tallest, h);
    const targets = each.targets?.map((target, at) => ({
      refId: String.fromCodePoint(65 + at),
      datasource: DATASOURCE,
      ...target,
    }));
    return { id: index + 1, ...each, ...(targets && { targets, datasource: DATASOURCE }), gridPos };
  });
}

export function dashboard({ uid, title, description, panels, variables = [] }) {
  return {
    uid,
    title,
    description,
    tags: ['ute'],
    schemaVersion: SCHEMA_VERSION,
    version: 1,
    editable: false,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    timezone: '',
    links: [
      {
        type: 'dashboards',
        title: 'UnifiedToolExecutor',
        icon: 'external link',
        tooltip: '',
        targetBlank: false,
        tags: ['ute'],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
      },
    ],
    annotations: { list: [] },
    templating: { list: [...VARIABLES, ...variables] },
    panels: placed(panels),
  };
}
