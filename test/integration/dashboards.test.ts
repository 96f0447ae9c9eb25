// Every query of the dashboards has an answer: over series made up from the table, and over those that a real Prometheus
// scrapes from a gateway under load.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ALL_SERIES } from '../../src/ports/telemetry/series/all-series.ts';
import { mcpDoor } from '../helpers/doors.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { Prometheus } from '../helpers/prometheus.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const ROOT = join(import.meta.dirname, '../..');
const NEEDS =
  'These tests need prometheus and promtool: install with "apt-get install --no-install-recommends prometheus".';

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string }[];
}
interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly editable: boolean;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly Panel[];
}

const dashboards = globSync(join(ROOT, 'deploy/grafana/*.json')).map(
  (file) => JSON.parse(readFileSync(file, 'utf8')) as Dashboard,
);
/** As Grafana would send them, for all installations and tools. */
const QUERIES = dashboards.flatMap(({ uid, title, panels }) =>
  panels.flatMap((panel) =>
    (panel.targets ?? []).map(({ expr }) => ({
      uid,
      where: `${title}: ${panel.title}`,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(?:namespace|job|tool)/g, '.*'),
    })),
  ),
);

let dir: string;
beforeAll(() => {
  if (spawnSync('prometheus', ['--version']).error !== undefined) throw new Error(NEEDS);
  dir = tempDir();
});
afterAll(() => removeDir(dir));

describe.each(dashboards)('$title', ({ uid, tags, editable, templating, panels }) => {
  it('is what Grafana reads: ids of its own, panels beside each other, a data source that is chosen', () => {
    expect(uid).toMatch(/^ute-[a-z]+$/);
    expect([tags, editable]).toEqual([['ute'], false]);
    expect(templating.list.map(({ name }) => name).slice(0, 3)).toEqual(['datasource', 'namespace', 'job']);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { type, title, description, gridPos, datasource, targets } of panels) {
      expect([title, gridPos.x + gridPos.w <= 24]).toEqual([title, true]);
      if (type === 'row') continue;
      expect([title, datasource?.uid, targets?.length === 0]).toEqual([title, '${datasource}', false]);
      expect([title, description]).toEqual([title, expect.stringMatching(/./)]);
    }
  });
});

it('no two dashboards have one uid', () => {
  expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length);
});

it('every series is on a dashboard', () => {
  const asked = QUERIES.map(({ expr }) => expr).join('\n');
  const missing = Object.keys(ALL_SERIES).filter(
    (name) => !new RegExp(`\\b${name}(?:_bucket|_sum|_count)?\\b`).test(asked),
  );
  expect(missing).toEqual([]);
});

/** Each series of the table, with one value for each of its labels; the values of matchers in queries are among them. */
function madeUp(): { series: string; values: string }[] {
  const scraped = { job: 'ute', instance: 'a' };
  const known: Record<string, readonly string[]> = {
    outcome: ['ok', 'VALIDATION'],
    stage: ['admission'],
  };
  const written = (labels: object) =>
    Object.entries(labels)
      .map(([name, value]) => `${name}="${String(value)}"`)
      .join(',');
  const own = Object.entries(ALL_SERIES).flatMap(([name, series]) => {
    const variants = (series.labels ?? []).reduce<object[]>(
      (all, label) =>
        all.flatMap((some) => (known[label] ?? ['x']).map((value) => ({ ...some, [label]: value }))),
      [scraped],
    );
    return variants.flatMap((labels) => {
      if (series.type !== 'histogram') {
        const values = series.type === 'counter' ? '0+3x90' : name === 'ute_circuit_state' ? '2x90' : '1x90';
        return [{ series: `${name}{${written(labels)}}`, values }];
      }
      const bounds = [...series.buckets.map(String), '+Inf'];
      const buckets = bounds.map((le) => ({
        series: `${name}_bucket{${written({ ...labels, le })}}`,
        values: '0+3x90',
      }));
      const totals = ['sum', 'count'].map((part) => ({
        series: `${name}_${part}{${written(labels)}}`,
        values: '0+3x90',
      }));
      return [...buckets, ...totals];
    });
  });
  const ofProcess = [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_eventloop_lag_p50_seconds',
  ];
  return [...own, ...ofProcess.map((name) => ({ series: `${name}{${written(scraped)}}`, values: '0+1x90' }))];
}

it('every query has an answer where its series are there', () => {
  const file = join(dir, 'queries.test.yaml');
  const promql_expr_test = QUERIES.map(({ expr }) => ({
    expr: `count(${expr.replaceAll('[1m]', '[5m]')}) > bool 0`,
    eval_time: '80m',
    exp_samples: [{ labels: '{}', value: 1 }],
  }));
  const rule_files = [join(ROOT, 'deploy/prometheus/slo.yaml')];
  const test = { interval: '1m', input_series: madeUp(), promql_expr_test };
  writeFileSync(file, stringify({ rule_files, evaluation_interval: '1m', tests: [test] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  expect(`${stdout}${stderr}`).not.toMatch(/expr:/);
  expect(status).toBe(0);
});

/** What the gateway below does not have or do, or shows later; the made-up series above show that queries for these are right. */
const NOT_HERE: ReadonlySet<string> = new Set([
  'ute:gateway_failures:ratio_rate1d',
  'ute:gateway_failures:ratio_rate1h',
  'ute:gateway_failures:ratio_rate2h',
  'ute:gateway_failures:ratio_rate30m',
  'ute:gateway_failures:ratio_rate3d',
  'ute:gateway_failures:ratio_rate5m',
  'ute:gateway_failures:ratio_rate6h',
  'ute_budget_refusals_total',
  'ute_canary_calls_total',
  'ute_certificate_expiry_timestamp_seconds',
  'ute_executor_worker_restarts_total',
  'ute_fallbacks_total',
  'ute_gateway_failures_total',
  'ute_guard_findings_total',
  'ute_issuer_keys_unread',
  'ute_key_service_requests_total',
  'ute_lease_lost_total',
  'ute_loader_fetches_total',
  'ute_loader_source_stale',
  'ute_mcp_connections',
  'ute_mcp_connections_lost_total',
  'ute_mcp_connects_total',
  'ute_mcp_unexpected_messages_total',
  'ute_mode_refusals_total',
  'ute_replayed_calls_total',
  'ute_retention_deleted_total',
  'ute_sandbox_runs_total',
  'ute_schedules',
  'ute_soft_limit_exceeded_total',
  'ute_webhook_deliveries_total',
]);

const handler = { handler: join(ROOT, 'tools/handlers/echo.js'), trusted: true };
const anyText = { type: 'object', properties: { text: { type: 'string' } } };
const declared = (name: string, more: object = {}, metadata: object = {}) => ({
  name,
  description: name,
  tool_type: 'javascript',
  input_schema: anyText,
  implementation_config: handler,
  ...more,
  metadata: { read_only: true, idempotent: true, ...metadata },
});
const TOOLS = {
  connections: {
    nobody: {
      type: 'http',
      base_url: 'http://127.0.0.1:9',
      allow_private: ['127.0.0.0/8'],
      allow_ports: [9],
    },
  },
  tools: [
    declared('paid', {}, { cost: 0.5 }),
    declared('cached', { extensions: { cache: { ttl_ms: 60_000, scope: 'tenant' } } }),
    declared('narrow', { concurrency: { limit: 1, per: 'tool', max_queue: 0 } }),
    declared('rare', { rate_limits: [{ per: 'tenant', rate: 1, period: '1h' }] }),
    declared('dangerous', {}, { is_dangerous: true, read_only: false }),
    declared('away', {
      tool_type: 'http',
      implementation_config: { connection: 'nobody', method: 'GET', path: '/', query: 'remaining' },
      retries: { max_attempts: 2 },
    }),
  ],
};

const OVER_MCP = ({ keys }: RunningGateway) => ({
  tool: 'paid',
  argumentsJson: '{"text":"x"}',
  key: keys.agent.text,
});

describe('over a gateway under load', () => {
  let gateway: RunningGateway;
  let prometheus: Prometheus;

  beforeAll(async () => {
    const tools = join(dir, 'tools.yaml');
    writeFileSync(tools, stringify(TOOLS));
    gateway = await startGateway({
      tools: [tools, 'config/tools.yaml'],
      settings: { extensions: { metrics: { tenant_series: true } } },
    });
    await openDatabase(gateway);
    const port = Number(new URL(gateway.service.metricsUrl).port);
    prometheus = await Prometheus.start(dir, [join(ROOT, 'deploy/prometheus/*.yaml')], { a: port });
    const doors = [mcpDoor(gateway), mcpDoor(gateway, 'legacy')];
    for (let round = 0; round < 8; round += 1) {
      await callEverything(gateway);
      await Promise.all(doors.map((door) => door.call(OVER_MCP(gateway))));
    }
    for (const door of doors) door.close();
  });
  afterAll(async () => {
    await prometheus?.stop();
    await gateway?.stop();
  });

  it('Prometheus takes what it scrapes, exemplars included', async () => {
    expect(await prometheus.targets()).toMatchObject([{ health: 'up', lastError: '' }]);
  });

  it('what it scrapes is clean: names, units and help', async () => {
    const input = await (await fetch(gateway.service.metricsUrl)).text();
    expect(input).toContain('ute_build_info');
    const checked = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    expect(checked.stdout + checked.stderr).toBe('');
    expect(checked.status).toBe(0);
  });

  it('every query has an answer, but for those about what this gateway does not do', async () => {
    const silent = new Set<string>();
    for (const { where, expr } of QUERIES.filter(({ uid }) => uid !== 'ute-others')) {
      const result = await prometheus.query(expr).catch((error: unknown) => {
        throw new Error(where, { cause: error });
      });
      if (result.length === 0)
        for (const [name] of expr.matchAll(/ute[_:][a-z0-9_:]+/g)) if (!NOT_HERE.has(name)) silent.add(name);
    }
    expect([...silent]).toEqual([]);
  });
});

async function callEverything({ url, keys }: RunningGateway): Promise<void> {
  const call = (name: string, body: object = {}, headers: object = {}) =>
    fetch(`${url}/v1/tools/${name}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.agent.text}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ arguments: { text: 'x' }, ...body }),
    });
  const traced = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
  await Promise.all([
    call('paid', {}, traced),
    call('paid', {}, { prefer: 'respond-async' }),
    call('paid', {}, { 'idempotency-key': 'one' }),
    call('cached'),
    ...Array.from({ length: 8 }, () => call('narrow')),
    call('rare'),
    call('dangerous'),
    call('away'),
    call('calculate_sum', { arguments: { a: 1, b: 2 } }),
    call('calculate_sum', { arguments: { a: 'one' } }),
    call('nothing_of_this_name'),
  ]);
  await new Promise((resolve) => setTimeout(resolve, 700));
}
