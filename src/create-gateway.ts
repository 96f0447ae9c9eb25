// Assembles the gateway: pipeline, executors, loaders, registry and core, out of settings and ports. No Nest in here.
import type { PipelineView } from './api/tokens.ts';
import { StepCalls } from './core/nested-calls.ts';
import { compileTool, type CompileDeps } from './core/compile-tool.ts';
import { RetryBudget } from './core/resilience/retry-budget.ts';
import { UnifiedToolExecutor } from './core/unified-tool-executor.ts';
import type { Executor, Loader, PreparedFunction } from './contract/plugin.ts';
import type { ToolFunction } from './contract/tool-function.ts';
import { loadCustomExecutors } from './custom-executors.ts';
import { loadCustomExtensions } from './custom-extensions.ts';
import { EXECUTORS, type AnyExecutorPlugin } from './executors/index.ts';
import { LOADERS } from './loaders/index.ts';
import { Pipeline } from './pipeline.ts';
import type { Metrics } from './ports/metrics.ts';
import type { OutsidePorts, Ports } from './ports/ports.ts';
import { specRules } from './registry-rules.ts';
import { RegistrySync } from './registry/registry-sync.ts';
import { ToolSpecRegistry } from './registry/tool-spec-registry.ts';
import type { Settings } from './settings/settings-schema.ts';

export interface Gateway {
  readonly executor: UnifiedToolExecutor;
  readonly registry: ToolSpecRegistry;
  readonly sync: RegistrySync;
  readonly pipeline: PipelineView;
  /** After the last call: stops watching, closes executors and extensions. */
  close(): Promise<void>;
}

/** Throws Error with every reason why these settings cannot work. The registry is empty until `sync.start()`. */
export async function createGateway(settings: Settings, outside: OutsidePorts): Promise<Gateway> {
  const steps = new StepCalls(outside.clock);
  const ports: Ports = { ...outside, nestedCalls: steps };
  const custom = await loadCustomExtensions(settings.custom_extensions);
  const pipeline = new Pipeline(settings, ports, custom);
  const ownExecutors = await loadCustomExecutors(settings.custom_executors);
  const toolStage = new Set(pipeline.view.tool.map(({ name }) => name));
  const rules = specRules(
    custom.map(({ plugin }) => plugin).filter(({ name }) => toolStage.has(name)),
    ownExecutors,
  );
  const registry = new ToolSpecRegistry();
  const executors = createExecutors([...EXECUTORS, ...ownExecutors], settings, ports);
  const compile = compilerOf(pipeline, settings, ports);
  const loaders = createLoaders(settings, ports);
  const sync = new RegistrySync({ ...ports, registry, loaders, rules, executors, compile });
  const executor = new UnifiedToolExecutor({
    snapshots: registry,
    requestLayers: pipeline.request,
    chainOf: (fn) => sync.chainOf(fn),
    maxTimeoutMs: settings.limits.max_timeout_ms,
    clock: ports.clock,
    log: ports.log,
  });
  steps.bind(executor);
  async function close(): Promise<void> {
    await sync.stop();
    await Promise.allSettled([...executors.values()].map(async (each) => each.close?.()));
    await pipeline.close();
  }
  return { executor, registry, sync, pipeline: pipeline.view, close };
}

function createExecutors(
  plugins: readonly AnyExecutorPlugin[],
  settings: Settings,
  ports: Ports,
): ReadonlyMap<string, Executor<unknown>> {
  const known = plugins.map(({ name }) => name);
  for (const name of Object.keys(settings.executors)) {
    if (!known.includes(name))
      throw new Error(`executors: there is no executor "${name}" here; known: ${known.join(', ')}`);
  }
  return new Map(
    plugins.map((plugin) => {
      const parsed = plugin
        .settingsSchema?.(settings.configDir)
        .safeParse(settings.executors[plugin.name] ?? {});
      if (parsed?.success === false) {
        const issues = parsed.error.issues.map(
          ({ path, message }) => `${['executors', plugin.name, ...path].join('.')}: ${message}`,
        );
        throw new Error(issues.join('\n'));
      }
      return [plugin.name, plugin.create({ ...ports, settings: parsed?.data as never })] as const;
    }),
  );
}

function createLoaders(settings: Settings, ports: Ports): readonly Loader[] {
  return settings.loaders.map(({ type, ...options }, index) => {
    const plugin = LOADERS.find(({ name }) => name === type);
    if (plugin === undefined) {
      throw new Error(
        `loaders.${index}.type: there is no loader "${type}" here; known: ${LOADERS.map(({ name }) => name).join(', ')}`,
      );
    }
    const parsed = plugin.optionsSchema.safeParse(options);
    if (!parsed.success) {
      throw new Error(
        parsed.error.issues
          .map(({ path, message }) => `${['loaders', index, ...path].join('.')}: ${message}`)
          .join('\n'),
      );
    }
    return plugin.create({ ...ports, configDir: settings.configDir })(parsed.data);
  });
}

function compilerOf(pipeline: Pipeline, settings: Settings, ports: Ports) {
  const depsOf = compileDeps(settings, ports);
  return (fn: ToolFunction, prepared: PreparedFunction) =>
    compileTool(fn, prepared, pipeline.layersFor(fn), depsOf(fn.spec.toolType));
}

const EXECUTOR_BUCKETS = [0.0001, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** One set per executor: its own series, and a retry budget that one upstream's trouble cannot take from another kind. */
function compileDeps(settings: Settings, ports: Ports): (toolType: string) => CompileDeps {
  const series = executorSeries(ports.metrics);
  const made = new Map<string, CompileDeps>();
  return (toolType) => {
    let deps = made.get(toolType);
    if (deps === undefined) {
      deps = {
        attempts: {
          clock: ports.clock,
          random: Math.random,
          budget: new RetryBudget(),
          retries: series.retries.with(toolType),
          seconds: series.seconds.with(toolType),
        },
        inflight: series.inflight.with(toolType),
        log: ports.log,
        maxResultBytes: settings.limits.max_result_bytes,
      };
      made.set(toolType, deps);
    }
    return deps;
  };
}

function executorSeries(metrics: Metrics) {
  return {
    inflight: metrics.gauge({
      name: 'ute_inflight_calls',
      help: 'Calls inside an executor now.',
      labels: ['executor'],
    }),
    retries: metrics.counter({
      name: 'ute_retries_total',
      help: 'Second and later attempts.',
      labels: ['executor'],
    }),
    seconds: metrics.histogram({
      name: 'ute_executor_duration_seconds',
      help: 'Time of one attempt inside an executor.',
      labels: ['executor'],
      buckets: EXECUTOR_BUCKETS,
    }),
  };
}
