// Makes every port's adapter: the embedded ones, or those on Redis and PostgreSQL where their URLs are set.
import { join, resolve } from 'node:path';
import type { IdempotencyStore } from '../ports/idempotency-store.ts';
import type { CallHistory } from '../ports/call-history.ts';
import type { OutsidePorts } from '../ports/ports.ts';
import type { SpecStore } from '../ports/spec-store.ts';
import { readSandboxSettings, SANDBOX_DEFAULTS } from '../lib/sandbox-settings.ts';
import type { Settings } from '../settings/settings-schema.ts';
import { EventLoopLag } from './event-loop-lag.ts';
import { UndiciHttpClient } from './http/undici-http-client.ts';
import { AnonymousAuthenticator, ApiKeyAuthenticator } from './keys/api-key-authenticator.ts';
import { dataDirKeys } from './keys/first-key.ts';
import { SdkMcpServers } from './mcp/sdk-mcp-servers.ts';
import { MemoryAdmissionControl } from './memory/memory-admission-control.ts';
import { MemoryRegistryHints } from './memory/memory-registry-hints.ts';
import { MemoryResultCache } from './memory/memory-result-cache.ts';
import { openFileDefinitionPins } from './pins/file-definition-pins.ts';
import { openCallRecords } from './open-records.ts';
import { openRecordings } from './recordings/open-recordings.ts';
import { NodeProcessSpawner } from './process/node-process-spawner.ts';
import { ProcessStarter } from './process/process-starter.ts';
import { databaseSettings, openSpecStore } from './database/own-database.ts';
import { openedLater } from './database/opened-later.ts';
import { Records } from './database/records.ts';
import { openRedisAdmission } from './redis/open-redis-admission.ts';
import { RedisClients } from './redis/redis-clients.ts';
import { RedisRegistryHints } from './redis/redis-registry-hints.ts';
import { RedisResultCache } from './redis/redis-result-cache.ts';
import { LocalSandbox } from './sandbox/local-sandbox.ts';
import { createAsyncParts, type AsyncParts } from './queue/async-parts.ts';
import { PgSqlDatabases } from './sql/pg-sql-databases.ts';
import { SystemClock } from './system-clock.ts';
import { PinoLog } from './telemetry/pino-log.ts';
import { PrometheusMetrics } from './telemetry/prometheus-metrics.ts';

export interface Infra {
  readonly ports: OutsidePorts;
  readonly metrics: PrometheusMetrics;
  readonly log: PinoLog;
  /** What is kept in the gateway's own database; opened at its first use. */
  readonly records: Records;
  readonly history: CallHistory;
  /** What calls that run later need. */
  readonly asyncParts: AsyncParts;
  /** Last of all: children gone, audit on disk, log lines out. */
  close(): Promise<void>;
}

const MAX_CACHE_ENTRIES = 50_000;

/** `announce` shows the operator a line that must not go to the log: the first key. */
export async function createInfra(settings: Settings, announce: (line: string) => void): Promise<Infra> {
  const clock = new SystemClock();
  const log = PinoLog.create({ level: settings.log.level });
  const metrics = new PrometheusMetrics();
  metrics.collectProcessMetrics();
  const { url: redisUrl, prefix } = settings.redis;
  const redis = redisUrl === undefined ? undefined : new RedisClients({ url: redisUrl, prefix }, log);
  const records = new Records(databaseSettings(settings), { clock, log });
  const idempotency = openedLater<IdempotencyStore>(() => idempotencyStore(records));
  const specs = openedLater<SpecStore>(() => openSpecStore(records));
  const starter = new ProcessStarter();
  const sandbox = createSandbox(settings, starter, clock);
  const spawner = new NodeProcessSpawner(starter, sandbox);
  const http = new UndiciHttpClient();
  const sqlDatabases = new PgSqlDatabases();
  const mcpServers = new SdkMcpServers({ spawner, http, clock, log, metrics });
  const callRecords = await openCallRecords(settings, { records, clock, log, metrics });
  const { approvals, auditSink, history } = callRecords;
  const admission =
    redis === undefined
      ? new MemoryAdmissionControl(clock)
      : await openRedisAdmission({ clients: redis, clock, log, metrics });
  const authenticator = createAuthenticator(settings, clock, announce);
  const definitionPins = await openFileDefinitionPins(join(settings.data_dir, 'pins.json'), { clock, log, metrics });
  const loopLag = new EventLoopLag(clock);
  const cacheBounds = { maxEntries: MAX_CACHE_ENTRIES, maxBytes: settings.limits.max_cache_bytes };
  const resultCache =
    redis === undefined
      ? new MemoryResultCache(clock, cacheBounds)
      : new RedisResultCache(redis, clock, cacheBounds);
  const registryHints =
    redis === undefined ? new MemoryRegistryHints(clock) : new RedisRegistryHints(redis, log);
  const { recordings, replayTape } = await openRecordings(settings, { clock, log, metrics });
  const ports: OutsidePorts = {
    admission,
    approvals,
    auditSink,
    authenticator,
    clock,
    definitionPins,
    http,
    idempotency,
    log,
    loopLag,
    mcpServers,
    metrics,
    recordings,
    registryHints,
    replayTape,
    resultCache,
    sandbox,
    spawner,
    specs,
    sqlDatabases,
  };
  const asyncParts = createAsyncParts({ records, redis, clock, log, maxWaitMs: settings.async.max_wait_ms });
  async function close(): Promise<void> {
    loopLag.stop();
    // First: a server over HTTP is told that its session is over.
    await mcpServers.close();
    await Promise.allSettled([admission.close(), http.close(), spawner.closeAll(), sqlDatabases.close()]);
    redis?.close();
    await recordings.close();
    await callRecords.close();
    await records.close();
    await log.flush();
  }
  return { ports, metrics, log, records, history, asyncParts, close };
}

async function idempotencyStore(records: Records): Promise<IdempotencyStore> {
  const { db } = await records.database();
  const { SqlIdempotencyStore } = await import('./database/sql-idempotency-store.ts');
  return new SqlIdempotencyStore(db);
}

/** Settings that are not valid are the shell executor's to refuse, right after this. */
function createSandbox(settings: Settings, starter: ProcessStarter, clock: SystemClock): LocalSandbox {
  const said = readSandboxSettings(settings.executors['shell']) ?? SANDBOX_DEFAULTS;
  const root =
    said.workspace_dir === undefined
      ? join(settings.data_dir, 'workspaces')
      : resolve(settings.configDir, said.workspace_dir);
  return new LocalSandbox({ settings: said, root, starter, clock });
}

function createAuthenticator(settings: Settings, clock: SystemClock, announce: (line: string) => void) {
  const { mode, keys, roles } = settings.auth;
  if (mode === 'none') return new AnonymousAuthenticator();
  const known =
    keys.length > 0 ? keys : dataDirKeys(settings.data_dir, (key) => announce(firstKeyNotice(key)));
  return new ApiKeyAuthenticator(known, roles, clock);
}

function firstKeyNotice(key: string): string {
  return `\nNo API key was configured, so one was made. It is shown only now:\n\n  export UTE_API_KEY=${key}\n\n`;
}
