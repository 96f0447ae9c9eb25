// Whether queries ask for what there is: series of the gateway and of its Node process, recorded ones, and labels that they have.
import { PrometheusMetrics } from '../../dist/infra/telemetry/prometheus-metrics.js';
import { ALL_SERIES } from '../../dist/ports/telemetry/series/all-series.js';
import { RECORDED } from './slo.js';

/** What a scrape, or Kubernetes, puts on every series. */
const SCRAPED = ['job', 'instance', 'namespace', 'pod', 'le'];
const NAME = /(?<![\w:"])(?:ute[_:][a-z0-9_:]+|(?:nodejs|process)_[a-z0-9_]+)/g;
const HISTOGRAM_PART = /_(?:bucket|sum|count)$/;
const SELECTOR = /([a-z_:][a-z0-9_:]*)\{([^}]*)\}/g;
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;

const recorded = new Set(RECORDED.map(({ record }) => record));
const ofProcess = await processSeries();

async function processSeries() {
  const metrics = new PrometheusMetrics();
  metrics.collectProcessMetrics();
  const { text } = await metrics.exposition();
  return new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
}

/** The definition behind a name in a query; throws Error where there is none. */
export function seriesBehind(name) {
  const own = ALL_SERIES[name];
  if (own !== undefined && own.type !== 'histogram') return own;
  const histogram = ALL_SERIES[name.replace(HISTOGRAM_PART, '')];
  if (HISTOGRAM_PART.test(name) && histogram?.type === 'histogram') return histogram;
  if (recorded.has(name)) return { labels: [] };
  if (ofProcess.has(name) || ofProcess.has(name.replace(HISTOGRAM_PART, ''))) return { labels: [] };
  throw new Error(`there is no series ${name}`);
}

/** The names of the gateway's own series in it. Throws Error with the query where it asks for what there is not. */
export function checkQuery(query) {
  try {
    const names = [...new Set(query.match(NAME) ?? [])];
    const labels = new Set(SCRAPED);
    for (const name of names) for (const label of seriesBehind(name).labels ?? []) labels.add(label);
    for (const [, name, matchers] of query.matchAll(SELECTOR)) {
      const known = new Set([...SCRAPED, ...(seriesBehind(name).labels ?? [])]);
      refuseUnknown(labelsIn(matchers.replaceAll(/"[^"]*"/g, '')), known, name);
    }
    for (const [, list] of query.matchAll(GROUPING)) refuseUnknown(labelsIn(list), labels, 'the query');
    return names.map((name) => (ALL_SERIES[name] === undefined ? name.replace(HISTOGRAM_PART, '') : name));
  } catch (error) {
    throw new Error(`${error.message}: ${query}`, { cause: error });
  }
}

const labelsIn = (text) => text.match(/[a-z_]+/g) ?? [];

function refuseUnknown(labels, known, where) {
  for (const label of labels) if (!known.has(label)) throw new Error(`${where} has no label "${label}"`);
}
