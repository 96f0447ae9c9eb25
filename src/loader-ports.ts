// What loaders need where no gateway runs: `ute validate`. Whatever they keep is thrown away.
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownPaths } from './infra/create-outlets.ts';
import { databaseSettings, embeddedPostgres } from './infra/database/own-database.ts';
import { Records } from './infra/database/records.ts';
import { SqlSpecStore } from './infra/database/sql-spec-store.ts';
import { UndiciHttpClient } from './infra/http/undici-http-client.ts';
import { SdkMcpServers } from './infra/mcp/sdk-mcp-servers.ts';
import { openFileDefinitionPins } from './infra/pins/file-definition-pins.ts';
import { NodeProcessSpawner } from './infra/process/node-process-spawner.ts';
import { ProcessStarter } from './infra/process/process-starter.ts';
import { LocalSandbox } from './infra/sandbox/local-sandbox.ts';
import { SystemClock } from './infra/system-clock.ts';
import { readSandboxSettings, SANDBOX_DEFAULTS } from './lib/sandbox-settings.ts';
import type { LoaderNeeds } from './loaders/index.ts';
import type { Log } from './ports/log.ts';
import type { Metrics } from './ports/metrics.ts';
import type { SpecReader } from './ports/spec-store.ts';
import type { Settings } from './settings/settings-schema.ts';

export interface LoaderPorts {
  readonly needs: LoaderNeeds;
  close(): Promise<void>;
}

const PINS_FILE = 'pins.json';

export async function loaderPorts(settings: Settings, log: Log): Promise<LoaderPorts> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ute-validate-'));
  // What was agreed to holds here, too; what is seen now is not written down.
  await copyFile(join(settings.data_dir, PINS_FILE), join(dataDir, PINS_FILE)).catch(() => undefined);
  const clock = new SystemClock();
  const metrics = NO_METRICS;
  const starter = new ProcessStarter();
  const sandboxSettings = readSandboxSettings(settings.executors['shell']) ?? SANDBOX_DEFAULTS;
  const root = join(dataDir, 'workspaces');
  const sandbox = new LocalSandbox({
    settings: sandboxSettings,
    root,
    starter,
    clock,
    hidden: ownPaths(settings),
  });
  const spawner = new NodeProcessSpawner(starter, sandbox);
  const http = new UndiciHttpClient();
  const mcpServers = new SdkMcpServers({ spawner, http, clock, log, metrics });
  const definitionPins = await openFileDefinitionPins(join(dataDir, PINS_FILE), { clock, log, metrics });
  const { configDir } = settings;
  // Opened only where a loader asks; nothing is made or migrated for a look.
  const server = embeddedPostgres(settings, log);
  const records = new Records({ ...databaseSettings(settings, server), migrate: false }, { clock, log });
  const isThere = settings.database.url !== undefined || existsSync(join(settings.data_dir, 'postgres'));
  const specs: SpecReader = isThere ? new SqlSpecStore(records.db) : NO_SPECS;
  return {
    needs: { clock, definitionPins, http, log, mcpServers, metrics, spawner, specs, configDir, dataDir },
    async close() {
      await Promise.allSettled([mcpServers.close(), http.close(), spawner.closeAll(), records.close()]);
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const NO_SPECS: SpecReader = {
  generation: async () => 0,
  heads: async () => ({ generation: 0, heads: [] }),
};

const SERIES = { add() {}, set() {}, observe() {} };
const NO_METRICS: Metrics = {
  counter: () => ({ with: () => SERIES }),
  gauge: () => ({ with: () => SERIES }),
  histogram: () => ({ with: () => SERIES }),
};
