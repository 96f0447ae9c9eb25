// docs/dashboards: pictures of the dashboards with the data of a Prometheus. The layout, titles and queries are those of
// deploy/grafana; the drawing is plain SVG, and not Grafana's. `node scripts/observability/draw-dashboards.js <Prometheus' URL> [minutes]`
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const DRAWN = ['ute-overview', 'ute-tool'];
const [COLUMN, LINE, GAP, HEAD] = [50, 26, 8, 54];
const COLORS = ['#3871dc', '#c15c17', '#37872d', '#8f3bb8', '#c4162a', '#b58900', '#127e8c', '#666666'];
const POINTS = 120;

const [url, minutes = '5'] = process.argv.slice(2);
const end = Math.floor(Date.now() / 1000);
const start = end - Number(minutes) * 60;

async function ask(path, parameters) {
  const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const { status, error, data } = await answer.json();
  if (status !== 'success') throw new Error(`${parameters.query}: ${error}`);
  return data.result;
}

/** As Grafana would send them, for all installations and tools. */
const written = (expr) =>
  expr.replaceAll('$__rate_interval', '30s').replaceAll(/\$(?:namespace|job|tool)/g, '.*');
const legend = (template, metric) =>
  template.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => metric[name] ?? '') ||
  Object.values(metric).join(' ') ||
  'value';

async function linesOf({ targets }) {
  const step = (end - start) / POINTS;
  const all = await Promise.all(
    targets.map(async ({ expr, legendFormat }) => {
      const result = await ask('query_range', { query: written(expr), start, end, step });
      return result.map(({ metric, values }) => ({
        name: legend(legendFormat ?? '', metric),
        points: values
          .map(([at, value]) => [at, Number(value)])
          .filter(([, value]) => Number.isFinite(value)),
      }));
    }),
  );
  return all.flat().filter(({ points }) => points.length > 0);
}

const UNITS = {
  s: (value) => (value < 1 ? `${digits(value * 1000)} ms` : `${digits(value)} s`),
  bytes: (value) => (value < 1 << 20 ? `${digits(value / 1024)} KiB` : `${digits(value / (1 << 20))} MiB`),
  percentunit: (value) => `${digits(value * 100)} %`,
  reqps: (value) => `${digits(value)} /s`,
};
const digits = (value) =>
  value === 0 ? '0' : Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
const shown = (value, { unit } = {}) => (UNITS[unit] ?? digits)(value);
const escaped = (text) =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const text = (x, y, words, more = '') => `<text x="${x}" y="${y}" ${more}>${escaped(words)}</text>`;

function chart({ x, y, w, h }, lines, defaults) {
  const [left, top, right, bottom] = [x + 58, y + 30, x + w - 8, y + h - 42];
  const highest = Math.max(...lines.flatMap(({ points }) => points.map(([, value]) => value)), 0) * 1.1 || 1;
  const at = ([time, value]) =>
    `${(left + ((time - start) / (end - start)) * (right - left)).toFixed(1)},${(bottom - (Math.max(value, 0) / highest) * (bottom - top)).toFixed(1)}`;
  const grid = [0, 0.5, 1].map((share) => {
    const level = bottom - share * (bottom - top);
    return `<path class="grid" d="M${left} ${level}H${right}"/>${text(left - 6, level + 4, shown(share * highest, defaults), 'class="small" text-anchor="end"')}`;
  });
  const drawn = lines.map(
    ({ points }, index) =>
      `<polyline points="${points.map(at).join(' ')}" stroke="${COLORS[index % COLORS.length]}"/>`,
  );
  let place = left;
  const names = lines.slice(0, 8).map(({ name }, index) => {
    const short = name.length > 24 ? `${name.slice(0, 23)}…` : name;
    const width = 18 + short.length * 7;
    if (place + width > right) return '';
    const label = `<rect x="${place}" y="${y + h - 20}" width="9" height="3" fill="${COLORS[index % COLORS.length]}"/>${text(place + 13, y + h - 14, short, 'class="small"')}`;
    place += width;
    return label;
  });
  return [...grid, ...drawn, ...names].join('\n');
}

function rows({ x, y, w, h }, result, defaults) {
  const fit = Math.floor((h - 40) / 18);
  return result
    .toSorted((one, other) => Number(other.value[1]) - Number(one.value[1]))
    .slice(0, fit)
    .map(({ metric, value }, index) => {
      const { __name__: _, instance: __, job: ___, ...labels } = metric;
      const line = y + 44 + index * 18;
      return (
        text(x + 12, line, Object.values(labels).join('   ') || 'all') +
        text(x + w - 12, line, shown(Number(value[1]), defaults), 'text-anchor="end"')
      );
    })
    .join('\n');
}

async function panelOf(panel) {
  const { type, title, gridPos, fieldConfig } = panel;
  const box = {
    x: gridPos.x * COLUMN + GAP,
    y: gridPos.y * LINE + HEAD,
    w: gridPos.w * COLUMN - GAP,
    h: gridPos.h * LINE - GAP,
  };
  if (type === 'row') return text(box.x, box.y + 14, title, 'class="row"');
  const frame = `<rect class="panel" x="${box.x}" y="${box.y}" width="${box.w}" height="${box.h}" rx="3"/>${text(box.x + 10, box.y + 18, title, 'class="title"')}`;
  const defaults = fieldConfig?.defaults;
  const none = text(box.x + box.w / 2, box.y + box.h / 2 + 8, 'No data', 'class="none" text-anchor="middle"');
  if (type === 'timeseries') {
    const lines = await linesOf(panel);
    return frame + (lines.length === 0 ? none : chart(box, lines, defaults));
  }
  const result = await ask('query', { query: written(panel.targets[0].expr), time: end });
  if (result.length === 0) return frame + none;
  if (type === 'table') return frame + rows(box, result, defaults);
  return (
    frame +
    text(
      box.x + box.w / 2,
      box.y + box.h / 2 + 18,
      shown(Number(result[0].value[1]), defaults),
      'class="stat" text-anchor="middle"',
    )
  );
}

mkdirSync(join(ROOT, 'docs/dashboards'), { recursive: true });
for (const name of DRAWN) {
  const { title, panels } = JSON.parse(readFileSync(join(ROOT, `deploy/grafana/${name}.json`), 'utf8'));
  const height = HEAD + LINE * Math.max(...panels.map(({ gridPos: { y, h } }) => y + h)) + GAP;
  const drawn = [];
  for (const panel of panels) drawn.push(await panelOf(panel));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${24 * COLUMN + GAP} ${height}" font-family="sans-serif" font-size="12">
<style>.panel{fill:#fff;stroke:#d5d7db}.title{font-weight:bold;fill:#24292e}.row{font-size:14px;font-weight:bold;fill:#24292e}.small{font-size:10px;fill:#555}.grid{stroke:#e5e7ea}.stat{font-size:26px;fill:#37872d}.none{fill:#999}polyline{fill:none;stroke-width:1.5}</style>
<rect width="100%" height="100%" fill="#f4f5f5"/>
${text(GAP, 32, title, 'font-size="20" fill="#24292e"')}
${drawn.join('\n')}
</svg>
`;
  writeFileSync(join(ROOT, `docs/dashboards/${name.slice(4)}.svg`), svg);
}
