// Assembles the gateway: pipeline, executors, loaders, registry and core, out of settings and ports. No Nest in here.
import type { PipelineView } from '../../api/tokens.ts';
import { GatewayCompiler } from './compiler.ts';
import type { AgentTools } from '../../core/agents/agent-tools.ts';
import type { AssignedVersions } from '../../core/versions/assigned-versions.ts';
import { Canaries } from '../../core/versions/canaries.ts';
import { StepCalls } from '../../core/nested-calls.ts';
import { LoadShedder, type ShedLimits } from '../../core/resilience/load-shedder.ts';
import { Upstreams } from '../../core/resilience/upstreams.ts';
import { UnifiedToolExecutor } from '../../core/unified-tool-executor.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Executor } from '../../contract/plugin.ts';
import { createToolSet } from './create-tool-set.ts';
import type { CustomExtension } from '../custom/custom-extensions.ts';
import { EXECUTORS, type AnyExecutorPlugin } from '../../executors/index.ts';
import { knownPlugins } from './known-plugins.ts';
import { OwnSpecs } from './own-specs.ts';
import { openToolsets } from './open-toolsets.ts';
import { Pipeline } from './pipeline.ts';
import type { CircuitControl } from '../../ports/circuit-control.ts';
import type { ToolSearch } from '../../ports/registry/tool-search.ts';
import type { SpecControl } from '../../ports/registry/spec-control.ts';
import type { ToolVersions } from '../../ports/registry/tool-versions.ts';
import type { OutsidePorts, Ports } from '../../ports/ports.ts';
import { processCountOf } from '../process/many/process-count.ts';
import { specRules } from './registry-rules.ts';
import { ReplicaAgreement } from '../../registry/reload/replica-agreement.ts';
import type { ToolsetRegistry } from '../../registry/toolsets/toolset-registry.ts';
import type { RegistrySync } from '../../registry/reload/registry-sync.ts';
import type { ToolSpecRegistry } from '../../registry/tool-spec-registry.ts';
import { OwnSchedules } from '../../schedules/own-schedules.ts';
import type { UnmatchedPolicy } from './unmatched-policy.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface Gateway {
  readonly executor: UnifiedToolExecutor;
  readonly registry: ToolSpecRegistry;
  readonly sync: RegistrySync;
  readonly pipeline: PipelineView;
  readonly circuits: CircuitControl;
  readonly toolsets: ToolsetRegistry;
  readonly search: ToolSearch;
  readonly unmatchedPolicy: UnmatchedPolicy;
  /** Told of the others once it is started, after the first load. */
  readonly agreement: ReplicaAgreement;
  readonly specs: SpecControl;
  /** What tools make of schedules; bound once these are there. */
  readonly ownSchedules: OwnSchedules;
  /** Those that are not in force. */
  readonly versions: ToolVersions;
  /** Takes the loaders of these settings from now on. Throws SettingsError; the loaders stay as they are then. */
  readonly useLoaders: (settings: Settings) => void;
  /** What executors tell of themselves, by name. */
  status(): JsonObject;
  /** After the last call: stops watching, closes executors and extensions. */
  close(): Promise<void>;
}

/** What differs by who calls. */
export interface PerCaller {
  /** Left out: no agent has a configuration of its own. */
  readonly agentTools?: AgentTools;
  /** Left out: nobody is assigned a version. */
  readonly assigned?: AssignedVersions;
}

/**
 * Throws Error with every reason why these settings cannot work. The registry is empty until `sync.start()`.
 */
export async function createGateway(
  settings: Settings,
  outside: OutsidePorts,
  perCaller: PerCaller = {},
): Promise<Gateway> {
  const steps = new StepCalls(outside.clock);
  const ownSchedules = new OwnSchedules((parent, tool, args) => steps.requestOf(parent, tool, args));
  const specControl = new OwnSpecs();
  const ports: Ports = { ...outside, nestedCalls: steps, callerSchedules: ownSchedules, specControl };
  const { custom, plugins } = await knownPlugins(settings);
  const pipeline = new Pipeline(settings, ports, custom);
  const rules = rulesOf(settings, pipeline, custom, plugins.slice(EXECUTORS.length));
  const executors = createExecutors(plugins, settings, ports);
  const random = Math.random;
  const upstreams = new Upstreams({ ...ports, random });
  const compiler = new GatewayCompiler(pipeline, settings, ports, upstreams);
  const tools = createToolSet(settings, ports, { rules, executors, compiler });
  const { registry, sync, versions, specs, useLoaders, unmatchedPolicy } = tools;
  const { agentTools } = perCaller;
  const { toolsets, search } = openToolsets(settings, { ports, registry, compiler, agentTools });
  const executor = new UnifiedToolExecutor({
    snapshots: registry,
    toolsets,
    requestLayers: pipeline.request,
    sessions: outside.sessionGate,
    versions,
    canaries: new Canaries(ports.metrics),
    ...perCaller,
    maxTimeoutMs: settings.limits.max_timeout_ms,
    shedder: new LoadShedder(shedLimits(settings.limits), { ...ports, lag: ports.loopLag, random }),
    clock: ports.clock,
    log: ports.log,
  });
  const hints = ports.registryHints;
  const agreement = new ReplicaAgreement({ ...ports, hints, registry, control: sync, random });
  steps.bind(executor);
  specControl.bind(specs);
  async function close(): Promise<void> {
    toolsets.close();
    search.close();
    await agreement.stop();
    await tools.close();
    await Promise.allSettled([...executors.values()].map(async (each) => each.close?.()));
    await pipeline.close();
  }
  const own = { executor, toolsets, search, pipeline: pipeline.view, circuits: upstreams, agreement };
  const kept = { registry, sync, specs, versions, useLoaders, unmatchedPolicy };
  return { ...own, ...kept, ownSchedules, status: () => statusOf(executors), close };
}

function rulesOf(
  settings: Settings,
  { view }: Pipeline,
  custom: readonly CustomExtension[],
  executors: readonly AnyExecutorPlugin[],
) {
  const { extensions, oauth } = settings;
  const toolStage = new Set(view.tool.map(({ name }) => name));
  const plugins = custom.map(({ plugin }) => plugin).filter(({ name }) => toolStage.has(name));
  const rules = specRules(plugins, executors, extensions, oauth.providers);
  return { ...rules, refusedConnections: refusedConnections(settings) };
}

/** The embedded database has one holder. In the other processes every call of such a tool would fail. */
function refusedConnections(settings: Settings): ReadonlyMap<string, string> {
  const { count } = processCountOf(settings);
  const why =
    `${count} processes serve here, and one alone can hold that database; use a connection of type postgres, ` +
    'for a pack by `connections` of its entry, or processes: 1';
  return new Map(count > 1 ? [['embedded', why]] : []);
}

function statusOf(executors: ReadonlyMap<string, Executor<unknown>>): JsonObject {
  const told = [...executors].map(([name, each]) => [name, each.status?.()] as const);
  return Object.fromEntries(told.filter((entry): entry is [string, JsonObject] => entry[1] !== undefined));
}

function createExecutors(
  plugins: readonly AnyExecutorPlugin[],
  settings: Settings,
  ports: Ports,
): ReadonlyMap<string, Executor<unknown>> {
  return new Map(
    plugins.map((plugin) => {
      const own = plugin.settingsSchema?.(settings.configDir).parse(settings.executors[plugin.name] ?? {});
      return [plugin.name, plugin.create({ ...ports, settings: own as never })] as const;
    }),
  );
}

function shedLimits({ max_inflight_calls, shed_at_lag_ms }: Settings['limits']): ShedLimits {
  return { maxInflightCalls: max_inflight_calls, shedAtLagMs: shed_at_lag_ms };
}
