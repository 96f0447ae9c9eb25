// What the process stands on, looked at every few seconds: the disk of data_dir, certificates, the database's connections,
// approvals that wait. No call waits for a look, and neither does a stop.
import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { every } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Labelled, Gauge, Metrics } from '../../ports/telemetry/metrics.ts';
import { PROCESS_SERIES } from '../../ports/telemetry/series/process.ts';

/** The part of pg's Pool that is counted. */
export interface CountedPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

export interface ResourceDeps {
  readonly dataDir: string;
  /** PEM files by the name that the gauge gives them. */
  readonly certificates: Readonly<Record<string, string>>;
  /** Undefined while the database is not open. */
  readonly pool: () => CountedPool | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_MS = 15_000;

/** Looks at once, and then again and again. The returned function ends it. */
export function showResources(deps: ResourceDeps): () => void {
  const look = looksOf(deps);
  const failed = (err: unknown) =>
    deps.log.debug({ err }, 'disk and certificates could not be looked at: tried again');
  look().catch(failed);
  const looks = every(deps.clock, { ms: LOOK_MS }, look, failed);
  return () => void looks.stop();
}

function looksOf({ dataDir, certificates, pool, metrics }: ResourceDeps): () => Promise<void> {
  const free = metrics.gauge(PROCESS_SERIES.ute_data_dir_free_bytes).with();
  const size = metrics.gauge(PROCESS_SERIES.ute_data_dir_size_bytes).with();
  const expiry = metrics.gauge(PROCESS_SERIES.ute_certificate_expiry_timestamp_seconds);
  const connections = metrics.gauge(PROCESS_SERIES.ute_database_connections);
  return async () => {
    const counted = pool();
    if (counted !== undefined) showPool(connections, counted);
    const disk = await statfs(dataDir);
    free.set(disk.bavail * disk.bsize);
    size.set(disk.blocks * disk.bsize);
    for (const [name, file] of Object.entries(certificates))
      expiry.with(name).set(firstExpiry(await readFile(file, 'utf8')));
  };
}

function showPool(connections: Labelled<Gauge>, { totalCount, idleCount, waitingCount }: CountedPool): void {
  connections.with('open').set(totalCount);
  connections.with('idle').set(idleCount);
  connections.with('waiting').set(waitingCount);
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Unix time in seconds; NaN, which leaves the gauge as it is, where the text holds no certificate. */
export function firstExpiry(pem: string): number {
  const ends = [...pem.matchAll(PEM)].map(([text]) => Date.parse(new X509Certificate(text).validTo) / 1000);
  return ends.length === 0 ? Number.NaN : Math.min(...ends);
}
