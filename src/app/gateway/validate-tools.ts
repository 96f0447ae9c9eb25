// What `ute validate` and `ute policy test` ask: a gateway of these settings that loads its tools as any other does, serves
// nobody, and throws away what it keeps. Servers beyond this machine are asked only where that is wanted: to a gateway, they
// would be away.
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { withSectionFaults } from './check-sections.ts';
import { createGateway, type Gateway } from './create-gateway.ts';
import { knownPlugins } from './known-plugins.ts';
import { ownPaths, packagesDir } from '../adapters/create-egress-adapters.ts';
import { createInfra, type Infra } from '../adapters/create-ports.ts';
import { databaseSettings, embeddedPostgres } from '../../infra/postgres/own-database.ts';
import { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';
import { SqlSpecStore } from '../../infra/specs/sql-spec-store.ts';
import { processCountOf } from '../process/many/process-count.ts';
import { chosenLoaders } from './open-loaders.ts';
import type { McpServers } from '../../ports/egress/mcp-servers.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { OutsidePorts } from '../../ports/ports.ts';
import type { SpecReader, SpecStore } from '../../ports/registry/spec-store.ts';
import type { SqlDatabases } from '../../ports/egress/sql-databases.ts';
import { problemAt, readSource } from '../../settings/settings-source.ts';
import { SettingsError } from '../../settings/problems/settings-error.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface ToolsValidation {
  readonly tools: number;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** What model providers refuse, and are shown instead: the first of it, and how much more there is. */
  readonly advice: readonly Problem[];
  readonly moreAdvice: number;
  /** What would have asked the network and was left out. */
  readonly skipped: readonly string[];
}

/** The settings that `load` gives. Throws SettingsError, with what plugins refuse of them as well. */
export function allFaultsOf(load: () => Settings): Settings {
  try {
    return load();
  } catch (error) {
    throw error instanceof SettingsError ? withSectionFaults(error) : error;
  }
}

const PINS_FILE = 'pins.json';

/** Throws Error with what keeps a gateway of these settings from being made. */
export function validateTools(settings: Settings, online: boolean): Promise<ToolsValidation> {
  return withUnservedGateway(settings, { online }, async (_gateway, validation) => validation);
}

export interface UnservedOptions {
  readonly online: boolean;
  /** Who callers are. Left out: anybody is let in, as nobody. */
  readonly authenticator?: Authenticator;
  /** In place of those that would be asked. */
  readonly mcpServers?: McpServers;
}

/** `use` gets the gateway with its tools loaded, as far as they have no problems. Throws as `validateTools` does. */
export async function withUnservedGateway<Result>(
  settings: Settings,
  { online, authenticator, mcpServers }: UnservedOptions,
  use: (gateway: Gateway, validation: ToolsValidation) => Promise<Result>,
): Promise<Result> {
  // Before any loader is left out: all that is wrong is told at once.
  await knownPlugins(settings);
  const named = chosenLoaders(settings);
  const isLeftOut = (index: number) => {
    const { plugin, options } = named[index] ?? {};
    return !online && plugin?.needsNetwork?.(options) === true;
  };
  const skipped = new Set(
    named.flatMap(({ plugin }, index) => (isLeftOut(index) ? [`loaders.${index} (${plugin.name})`] : [])),
  );
  const dataDir = await mkdtemp(join(tmpdir(), 'ute-validate-'));
  // What was agreed to holds here, too; what is seen now is not written down.
  await copyFile(join(settings.data_dir, PINS_FILE), join(dataDir, PINS_FILE)).catch(() => undefined);
  const loaders = settings.loaders.filter((_, index) => !isLeftOut(index));
  const alone = withoutServices({ ...settings, loaders }, dataDir);
  const infra = await createInfra(alone, () => undefined, undefined, ownPaths(settings));
  const stored = storedSpecs(settings, infra);
  try {
    const away = online ? {} : offline((what) => skipped.add(what));
    const ports: OutsidePorts = {
      ...infra.ports,
      ...away,
      ...(authenticator !== undefined && { authenticator }),
      ...(mcpServers !== undefined && { mcpServers }),
      specs: { ...NOTHING_KEPT, ...stored.reader },
    };
    const gateway = await createGateway(alone, ports);
    try {
      const { warnings, leftOut, ...loaded } = await gateway.sync.reload();
      await Promise.all([gateway.toolsets.settled(), gateway.unmatchedPolicy.settled()]);
      // A tool that was left out may be the one that a rule is for.
      const ofPolicy = skipped.size === 0 ? gateway.unmatchedPolicy.warnings : [];
      const ofSettings = placed([...gateway.toolsets.warnings, ...ofPolicy], settings);
      const found = { ...loaded, warnings: [...warnings, ...leftOut, ...ofSettings] };
      return await use(gateway, { ...found, skipped: [...skipped] });
    } finally {
      await gateway.close();
    }
  } finally {
    await stored.close();
    await infra.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface PlacedWarning {
  readonly path: readonly string[];
  readonly message: string;
}

function placed(warnings: readonly PlacedWarning[], { configFile }: Settings): readonly Problem[] {
  if (warnings.length === 0) return [];
  const source = readSource(configFile, false);
  return warnings.map((warning) => problemAt(warning, source, {}));
}

/** Its limits, database and keys are of no concern to its tools. */
function withoutServices(settings: Settings, dataDir: string): Settings {
  const mcp = settings.executors['mcp'] as object | undefined;
  return {
    ...settings,
    data_dir: dataDir,
    // The journal of a gateway that was killed is the next one's, and what is agreed to is its own.
    own_dir: dataDir,
    // What is installed there already is not installed anew.
    executors: { ...settings.executors, mcp: { ...mcp, packages_dir: packagesDir(settings) } },
    // As many as would serve: some connections are for one alone.
    processes: processCountOf(settings).count,
    auth: { ...settings.auth, mode: 'none' },
    redis: { ...settings.redis, url: undefined },
    database: { ...settings.database, url: undefined, owner_url: undefined },
    recording: { ...settings.recording, enabled: false },
    log: { ...settings.log, level: 'silent' },
  };
}

interface StoredSpecs {
  readonly reader: SpecReader;
  close(): Promise<void>;
}

/** Opened only where a loader asks; nothing is made or migrated for a look. */
function storedSpecs(settings: Settings, { log, ports: { clock } }: Infra): StoredSpecs {
  const server = embeddedPostgres(settings, log);
  const database = new GatewayDatabase(
    { ...databaseSettings(settings, server), migrate: false },
    { clock, log },
  );
  const isThere = settings.database.url !== undefined || existsSync(join(settings.data_dir, 'postgres'));
  const store = new SqlSpecStore(database.db);
  const reader: SpecReader = isThere
    ? { generation: () => store.generation(), heads: () => store.heads() }
    : { generation: async () => 0, heads: async () => ({ generation: 0, heads: [] }) };
  return {
    reader,
    async close() {
      await database.close();
      await server.stop();
    },
  };
}

const notHere = () => Promise.reject(new Error('a validation keeps no versions'));

const NOTHING_KEPT: Omit<SpecStore, keyof SpecReader> = {
  record: async () => undefined,
  head: notHere,
  commit: notHere,
  version: notHere,
  versionCalled: notHere,
  versions: notHere,
  changes: notHere,
};

/** `asked` is told what somebody wanted of a server. */
function offline(asked: (what: string) => void): Pick<OutsidePorts, 'mcpServers' | 'sqlDatabases'> {
  const refuse = (what: string) => async () => {
    asked(what);
    throw toolFailure('OFFLINE', 'Servers are not asked in a validation.');
  };
  const server = refuse('a server of mcp tools');
  const database = refuse('a database of sql tools');
  const close = async () => undefined;
  const mcpServers: McpServers = {
    open: () => ({
      prepare: server,
      listTools: server,
      callTool: server,
      onToolsChanged: () => () => undefined,
      close,
    }),
    close,
  };
  const sqlDatabases: SqlDatabases = { open: () => ({ inspect: database, run: database, close }), close };
  return { mcpServers, sqlDatabases };
}
