// What everything else is seen by: the clock, the log, the metrics, and telemetry where there is somewhere to send it to.
import { SystemClock } from '../../infra/clock/system-clock.ts';
import type { Telemetry } from '../../infra/telemetry/otlp/start-telemetry.ts';
import { JsonLog } from '../../infra/telemetry/json-log.ts';
import { PrometheusMetrics } from '../../infra/telemetry/prometheus-metrics.ts';
import { settledWithin } from '../../lib/timers/settled-within.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { VERSION } from '../../version.ts';

export interface Observation {
  readonly clock: SystemClock;
  readonly log: JsonLog;
  readonly metrics: PrometheusMetrics;
  /** As the port says. */
  readonly tracedShare: number | undefined;
}

/** A collector that is away does not hold up the end. */
const TELEMETRY_WITHIN_MS = 2_000;

/** Before everything else: what is opened later is seen. `flush`: last of all, once nothing is logged any more. */
export async function openObservation(
  settings: Settings,
): Promise<Observation & { readonly flush: () => Promise<void> }> {
  const clock = new SystemClock();
  const { process: index } = settings;
  const whose: Readonly<Record<string, string>> = index === undefined ? {} : { process: String(index) };
  const metrics = new PrometheusMetrics({}, whose);
  metrics.collectProcessMetrics();
  const telemetry = await openTelemetry(settings, metrics);
  const alsoTo = telemetry?.takeLine;
  const lines = JsonLog.create({ level: settings.log.level, ...(alsoTo !== undefined && { alsoTo }) });
  const log = index === undefined ? lines : lines.child({ process: index });
  log.hide(secretsOfSettings(settings));
  telemetry?.complainTo(log);
  return {
    clock,
    log,
    metrics,
    tracedShare: tracedShareOf(settings),
    async flush() {
      await log.flush();
      if (telemetry !== undefined) await settledWithin(clock, TELEMETRY_WITHIN_MS, telemetry.close());
    },
  };
}

/** Where spans are not sent, calls still have the ids of traces: log lines name them. */
function tracedShareOf({ telemetry: { otlp_endpoint: endpoint, traces, sample_ratio: ratio } }: Settings) {
  if (endpoint === undefined) return undefined;
  return traces ? ratio : 0;
}

/** Loaded only where there is somewhere to send to. */
async function openTelemetry(
  { telemetry: options }: Settings,
  metrics: PrometheusMetrics,
): Promise<Telemetry | undefined> {
  const { otlp_endpoint: endpoint } = options;
  if (endpoint === undefined) return undefined;
  const { startTelemetry } = await import('../../infra/telemetry/otlp/start-telemetry.ts');
  const {
    traces,
    metrics: series,
    logs,
    sample_ratio: sampleRatio,
    export_interval_ms: exportEveryMs,
  } = options;
  const wanted = { endpoint, traces, metrics: series, logs, sampleRatio, exportEveryMs, version: VERSION };
  return startTelemetry(wanted, () => metrics.read());
}

/** Of a URL the password as well: libraries tell of what they could not read. */
function secretsOfSettings({
  audit,
  database,
  embeddings,
  redis,
  webhooks,
  secrets,
}: Settings): readonly string[] {
  const urls = [database.url, database.owner_url, database.replica_url, redis.url].filter(
    (url) => url !== undefined,
  );
  const passwords = urls.map((url) => URL.parse(url)?.password ?? '');
  const { checkpoint_webhook: hook, checkpoint_s3: s3 } = audit;
  const signing = [webhooks.secret, webhooks.previous_secret, hook?.secret, hook?.previous_secret];
  const stores = [s3?.secret_access_key, s3?.session_token];
  const keys =
    secrets.keys === undefined ? [] : secrets.keys.split(',').map((key) => key.split(':')[1] ?? '');
  const { vault } = secrets;
  const logins = [
    redis.sentinel_password,
    vault?.token,
    vault?.approle?.secret_id,
    embeddings?.api_key,
  ].filter((text) => text !== undefined);
  return [
    ...urls,
    ...logins,
    ...passwords,
    ...passwords.map((password) => decodeURIComponent(password)),
    ...[...signing, ...stores].filter((secret) => secret !== undefined),
    ...keys,
  ];
}
