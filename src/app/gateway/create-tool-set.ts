// Assembles what holds the tools: loaders, the registry they feed, the versions there were, and what changes definitions.
import type { ToolCompiler } from '../../contract/tool/compiled-tool.ts';
import { OpenedLoaders } from './open-loaders.ts';
import { degradedGauge } from '../../infra/telemetry/degraded-gauge.ts';
import type { Ports } from '../../ports/ports.ts';
import type { SpecControl } from '../../ports/registry/spec-control.ts';
import type { ToolVersions } from '../../ports/registry/tool-versions.ts';
import type { Executors } from '../../registry/build-tool.ts';
import { BuiltVersions } from '../../registry/versions/built-versions.ts';
import { RegistrySync } from '../../registry/reload/registry-sync.ts';
import { SpecEditor } from '../../registry/versions/spec-editor.ts';
import type { SpecRules } from '../../registry/spec-rules.ts';
import { ToolSpecRegistry } from '../../registry/tool-spec-registry.ts';
import { VersionKeeper } from '../../registry/versions/version-keeper.ts';
import { UnmatchedPolicy } from './unmatched-policy.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface ToolSetParts {
  readonly rules: SpecRules;
  readonly executors: Executors;
  readonly compiler: ToolCompiler;
}

export interface ToolSet {
  readonly registry: ToolSpecRegistry;
  readonly sync: RegistrySync;
  readonly versions: ToolVersions;
  readonly specs: SpecControl;
  readonly unmatchedPolicy: UnmatchedPolicy;
  /** Takes the loaders of these settings from now on. Throws SettingsError; the loaders stay as they are then. */
  readonly useLoaders: (settings: Settings) => void;
  /** After the last call, before the executors. */
  close(): Promise<void>;
}

/** Empty until `sync.start()`. */
export function createToolSet(settings: Settings, ports: Ports, parts: ToolSetParts): ToolSet {
  const registry = new ToolSpecRegistry();
  const opened = new OpenedLoaders({ ...ports, configDir: settings.configDir, dataDir: settings.data_dir });
  const loaders = opened.of(settings);
  const unmatchedPolicy = new UnmatchedPolicy(settings, registry, ports.log);
  const store = ports.specs;
  const keeper = new VersionKeeper({ ...ports, store });
  const degraded = degradedGauge(ports.metrics, 'tools');
  const sync = new RegistrySync({ ...ports, ...parts, registry, loaders, versions: keeper, degraded });
  const connections = () => sync.connections();
  const { configDir } = settings;
  const versions = new BuiltVersions({ ...ports, ...parts, connections, configDir, definitions: keeper });
  const specs = new SpecEditor({ ...ports, store, loader: () => opened.editable(), sync, registry });
  async function close(): Promise<void> {
    unmatchedPolicy.close();
    await Promise.all([sync.stop(), keeper.close()]);
    versions.close();
  }
  const useLoaders = (now: Settings) => sync.use(opened.of(now));
  return { registry, sync, versions, specs, unmatchedPolicy, useLoaders, close };
}
