// Makes every port's adapter: the embedded ones, or those on Redis and PostgreSQL where their URLs are set.
import { join, resolve } from 'node:path';
import type { OutsidePorts } from '../ports/ports.ts';
import { readSandboxSettings, SANDBOX_DEFAULTS } from '../lib/sandbox-settings.ts';
import type { Settings } from '../settings/settings-schema.ts';
import { JsonLinesAuditSink } from './audit/json-lines-audit-sink.ts';
import { UndiciHttpClient } from './http/undici-http-client.ts';
import { AnonymousAuthenticator, ApiKeyAuthenticator } from './keys/api-key-authenticator.ts';
import { dataDirKeys } from './keys/first-key.ts';
import { MemoryAdmissionControl } from './memory/memory-admission-control.ts';
import { MemoryApprovalStore } from './memory/memory-approval-store.ts';
import { NodeProcessSpawner } from './process/node-process-spawner.ts';
import { ProcessStarter } from './process/process-starter.ts';
import type { DatabaseSettings } from './database/database.ts';
import { Records } from './database/records.ts';
import { RedisClients } from './redis/redis-clients.ts';
import { LocalSandbox } from './sandbox/local-sandbox.ts';
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
  /** Last of all: children gone, audit on disk, log lines out. */
  close(): Promise<void>;
}

/** `announce` shows the operator a line that must not go to the log: the first key. */
export async function createInfra(settings: Settings, announce: (line: string) => void): Promise<Infra> {
  const clock = new SystemClock();
  const log = PinoLog.create({ level: settings.log.level });
  const metrics = new PrometheusMetrics();
  metrics.collectProcessMetrics();
  const { url: redisUrl, prefix } = settings.redis;
  const redis = redisUrl === undefined ? undefined : new RedisClients({ url: redisUrl, prefix }, log);
  const records = new Records(databaseSettings(settings), { clock, log });
  const starter = new ProcessStarter();
  const sandbox = createSandbox(settings, starter, clock);
  const spawner = new NodeProcessSpawner(starter, sandbox);
  const http = new UndiciHttpClient();
  const sqlDatabases = new PgSqlDatabases();
  const auditSink = await JsonLinesAuditSink.open({
    path: join(settings.data_dir, 'audit.jsonl'),
    metrics,
    clock,
  });
  const admission = new MemoryAdmissionControl(clock);
  const approvals = new MemoryApprovalStore(clock, { maxPending: settings.limits.max_pending_approvals });
  const authenticator = createAuthenticator(settings, clock, announce);
  const ports: OutsidePorts = {
    admission,
    approvals,
    auditSink,
    authenticator,
    clock,
    http,
    log,
    metrics,
    sandbox,
    spawner,
    sqlDatabases,
  };
  async function close(): Promise<void> {
    await Promise.allSettled([admission.close(), http.close(), spawner.closeAll(), sqlDatabases.close()]);
    redis?.close();
    await records.close();
    await auditSink.close().catch((error: unknown) => log.error({ err: error }, 'audit records were lost'));
    await log.flush();
  }
  return { ports, metrics, log, records, close };
}

function databaseSettings({ database, data_dir }: Settings): DatabaseSettings {
  const { url, pool_size: poolSize, ssl, migrate } = database;
  if (url === undefined) return { kind: 'pglite', dataDir: join(data_dir, 'database'), migrate: true };
  return { kind: 'postgres', url, poolSize, ssl, migrate };
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
