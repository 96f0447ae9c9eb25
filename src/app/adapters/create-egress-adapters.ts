// Egress adapters: everything through which a call leaves the gateway: processes and their sandbox, HTTP, databases, MCP servers.
import { join, resolve } from 'node:path';
import { getuid } from 'node:process';
import { readMcpSettings } from '../../lib/mcp/package-settings.ts';
import { readSandboxSettings, SANDBOX_DEFAULTS } from '../../lib/sandbox-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { OutsidePorts } from '../../ports/ports.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { EmbeddedPostgres } from '../../infra/embedded-postgres/embedded-postgres.ts';
import { HttpEmbedder, NO_EMBEDDER } from '../../infra/embeddings/http-embedder.ts';
import { GrpcJsUpstreams } from '../../infra/grpc/grpc-js-upstreams.ts';
import { UndiciHttpClient } from '../../infra/http/undici-http-client.ts';
import { SdkMcpServers } from '../../infra/mcp/sdk-mcp-servers.ts';
import { embeddedPostgres } from '../../infra/postgres/own-database.ts';
import { PackageStore } from '../../infra/packages/package-store.ts';
import { NodeProcessSpawner } from '../../infra/process/node-process-spawner.ts';
import { ProcessStarter } from '../../infra/process/process-starter.ts';
import { LocalSandbox } from '../../infra/sandbox/local-sandbox.ts';
import { PooledSmtpServers } from '../../infra/smtp/pooled-smtp-servers.ts';
import { PgSqlDatabases } from '../../infra/sql/pg-sql-databases.ts';
import type { SystemClock } from '../../infra/clock/system-clock.ts';

export interface EgressAdapters {
  readonly ports: Pick<
    OutsidePorts,
    | 'embedder'
    | 'grpcUpstreams'
    | 'http'
    | 'mcpServers'
    | 'sandbox'
    | 'smtpServers'
    | 'spawner'
    | 'sqlDatabases'
  >;
  close(): Promise<void>;
}

export function createEgressAdapters(
  settings: Settings,
  deps: {
    readonly clock: SystemClock;
    readonly log: Log;
    readonly metrics: Metrics;
    readonly server: EmbeddedPostgres;
    readonly alsoHidden: readonly string[];
  },
): EgressAdapters {
  const starter = new ProcessStarter();
  const sandbox = createSandbox(settings, starter, deps);
  const spawner = new NodeProcessSpawner(starter, sandbox);
  const grpcUpstreams = new GrpcJsUpstreams(deps.metrics);
  const http = new UndiciHttpClient();
  const embedder =
    settings.embeddings === undefined
      ? NO_EMBEDDER
      : new HttpEmbedder(settings.embeddings, { ...deps, http });
  const smtpServers = new PooledSmtpServers(deps.metrics);
  const sqlDatabases = new PgSqlDatabases(deps.server);
  const packages = createPackageStore(settings, { ...deps, spawner });
  const swept = packages.sweep();
  const mcpServers = new SdkMcpServers({ ...deps, spawner, packages, http });
  return {
    ports: { embedder, grpcUpstreams, http, mcpServers, sandbox, smtpServers, spawner, sqlDatabases },
    async close() {
      // First: a server over HTTP is told that its session is over.
      await mcpServers.close();
      await Promise.all([packages.close(), swept]);
      await Promise.allSettled([
        grpcUpstreams.close(),
        http.close(),
        smtpServers.close(),
        spawner.closeAll(),
        sqlDatabases.close(),
      ]);
    },
  };
}

export function packagesDir({ data_dir, configDir, executors }: Settings): string {
  const said = readMcpSettings(executors['mcp']).packages_dir;
  return said === undefined ? join(data_dir, 'packages') : resolve(configDir, said);
}

export function createPackageStore(
  settings: Settings,
  deps: { readonly clock: Clock; readonly log: Log; readonly spawner: ProcessSpawner },
): PackageStore {
  const { uid, gid } = readSandboxSettings(settings.executors['shell']) ?? SANDBOX_DEFAULTS;
  const said = readMcpSettings(settings.executors['mcp']);
  return new PackageStore({
    ...deps,
    root: packagesDir(settings),
    dataDir: settings.data_dir,
    user: getuid?.() === 0 ? { uid, gid } : undefined,
    timeoutMs: said.install_timeout_ms,
    maxBytes: said.max_package_bytes,
  });
}

/** For a process that serves nobody: the store alone, with a sandbox of its own. */
export function openPackageStore(
  settings: Settings,
  { clock, log }: { readonly clock: SystemClock; readonly log: Log },
): { readonly store: PackageStore; readonly close: () => Promise<void> } {
  const starter = new ProcessStarter();
  const server = embeddedPostgres(settings, log);
  const spawner = new NodeProcessSpawner(
    starter,
    createSandbox(settings, starter, { clock, server, alsoHidden: [] }),
  );
  return {
    store: createPackageStore(settings, { clock, log, spawner }),
    close: () => spawner.closeAll(),
  };
}

/** Settings that are not valid are the shell executor's to refuse, right after this. */
function createSandbox(
  settings: Settings,
  starter: ProcessStarter,
  {
    clock,
    server,
    alsoHidden,
  }: {
    readonly clock: SystemClock;
    readonly server: EmbeddedPostgres;
    readonly alsoHidden: readonly string[];
  },
): LocalSandbox {
  const said = readSandboxSettings(settings.executors['shell']) ?? SANDBOX_DEFAULTS;
  const root =
    said.workspace_dir === undefined
      ? join(settings.data_dir, 'workspaces')
      : resolve(settings.configDir, said.workspace_dir);
  return new LocalSandbox({
    settings: said,
    root,
    starter,
    clock,
    hidden: [...ownPaths(settings), ...server.places, ...alsoHidden],
    packages: [packagesDir(settings)],
  });
}

/** What belongs to the gateway itself. A tools file is none of it: it holds names of secrets, not secrets. */
export function ownPaths({
  data_dir,
  configFile,
  configDir,
  tls,
  audit,
  oauth,
}: Settings): readonly string[] {
  const { checkpoint_key_file: key, checkpoint_file: checkpoints } = audit;
  const clientSecrets = Object.values(oauth.providers).flatMap(({ client_secret: reference = '' }) => {
    const file = /^\$\{file:([^}]+)\}$/.exec(reference)?.[1]?.trim();
    return file === undefined ? [] : [resolve(configDir, file)];
  });
  const paths = [data_dir, configFile, tls?.key_file, key, checkpoints, ...clientSecrets];
  return paths.filter((path) => path !== undefined);
}
