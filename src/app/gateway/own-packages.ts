// What `ute packages` and `ute import` need: the store of packages of these settings, and which packages the settings name.
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { mcpSettings } from '../../lib/mcp/mcp-settings.ts';
import { nameOf } from '../../lib/mcp/mcp-package.ts';
import { resolveReferences } from '../../lib/secrets/references.ts';
import type { JsonObject } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { describeProblem } from '../../lib/text/describe-problem.ts';
import { SystemClock } from '../../infra/clock/system-clock.ts';
import type { PackageStore } from '../../infra/packages/package-store.ts';
import type { McpServerOptions } from '../../loaders/mcp-server/options.ts';
import type { McpPackage, McpServers, McpServerSettings } from '../../ports/egress/mcp-servers.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { openPackageStore } from '../adapters/create-egress-adapters.ts';
import { chosenLoaders } from './open-loaders.ts';
import { withUnservedGateway } from './validate-tools.ts';

export function openPackages(
  settings: Settings,
  log: Log,
): { readonly store: PackageStore; readonly close: () => Promise<void> } {
  return openPackageStore(settings, { clock: new SystemClock(), log });
}

export interface PackageNamed {
  readonly names: string;
  readonly asked: McpPackage;
  /** Whether its server runs in the sandbox: then so does the installation. */
  readonly confined: boolean;
}

/** Each once. `problems`: what kept a part of the settings from being read. */
export async function namedPackages(
  settings: Settings,
): Promise<{ readonly named: readonly PackageNamed[]; readonly problems: readonly string[] }> {
  const found = new Map<string, PackageNamed>();
  const add = (server: McpServerSettings) => {
    if (server.kind === 'http' || server.package === undefined) return;
    const asked = server.package;
    const confined = server.sandbox === 'required';
    found.set(canonicalHash([asked, confined]), {
      names: asked.packages.map(nameOf).join(', '),
      asked,
      confined,
    });
  };
  const problems: string[] = [];
  for (const { plugin, options } of chosenLoaders(settings)) {
    if (plugin.name !== 'mcp-server') continue;
    const { name, connection } = options as McpServerOptions;
    try {
      add(await settingsOf(connection, settings.configDir));
    } catch (error) {
      problems.push(`mcp-server:${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  // Connections stand in files of tools: a gateway that loads those opens them.
  await withUnservedGateway(settings, { online: false, mcpServers: listening(add) }, async (_, loaded) => {
    problems.push(...loaded.problems.map(describeProblem));
  });
  return { named: [...found.values()], problems };
}

async function settingsOf(connection: JsonObject, baseDir: string): Promise<McpServerSettings> {
  const { concurrency: _limit, ...fields } = connection;
  const { value, faults } = await resolveReferences(
    { type: 'mcp', ...fields },
    { env: process.env, baseDir },
  );
  const [fault] = faults;
  if (fault !== undefined) throw new Error(`${fault.path.join('.')}: ${fault.message}`);
  return mcpSettings(value, baseDir);
}

/** Servers that nobody asks anything of. */
function listening(opened: (settings: McpServerSettings) => void): McpServers {
  const nothing = async () => {
    throw toolFailure('OFFLINE', 'Servers are not asked when packages are installed.');
  };
  const close = async () => undefined;
  return {
    open: (settings) => {
      opened(settings);
      return {
        prepare: nothing,
        listTools: nothing,
        callTool: nothing,
        onToolsChanged: () => () => undefined,
        close,
      };
    },
    close,
  };
}
