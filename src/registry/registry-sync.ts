// RegistrySync: loaders in, snapshots out. A load is taken whole or not at all; what did not change is not built again.
import type { Connection, Executor, Loader, Next, PreparedFunction } from '../contract/plugin.ts';
import type { LoadedTools, Problem } from '../contract/loaded-tools.ts';
import { functionsOf, type ToolFunction } from '../contract/tool-function.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { RegistryControl, ReloadStatus } from '../ports/registry-control.ts';
import { reloadMetrics, type ReloadMetrics } from './reload-metrics.ts';
import { snapshotOf, type ToolSpecRegistry } from './tool-spec-registry.ts';
import { validateLoaded, type CheckedTool, type SpecRules } from './spec-validation.ts';
import { newValidationCache, type ValidationCache } from './validation-cache.ts';

export interface SyncDeps {
  readonly registry: ToolSpecRegistry;
  readonly loaders: readonly Loader[];
  readonly rules: SpecRules;
  readonly executors: ReadonlyMap<string, Executor<unknown>>;
  readonly compile: (fn: ToolFunction, prepared: PreparedFunction, checked: CheckedTool) => Next;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Everything built for one declaration; kept as long as the declaration and its connection stay as they are. */
interface Built {
  readonly checked: CheckedTool;
  readonly connection: Connection | undefined;
  readonly functions: readonly ToolFunction[];
  readonly prepared: readonly PreparedFunction[];
}

/** A first load that failed: there is no last good set to go on with. */
export class LoadError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(`the tools could not be loaded: ${problems.length} problem${problems.length === 1 ? '' : 's'}`);
    this.name = 'LoadError';
  }
}

export class RegistrySync implements RegistryControl {
  readonly #deps: SyncDeps;
  readonly #metrics: ReloadMetrics;
  readonly #cache: ValidationCache = newValidationCache();
  readonly #chains = new WeakMap<ToolFunction, Next>();
  readonly #stopping = new AbortController();
  readonly #watches: Promise<void>[] = [];
  #built = new Map<string, Built>();
  #status: ReloadStatus;
  #running: Promise<ReloadStatus> | undefined;
  #again = false;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
    this.#metrics = reloadMetrics(deps.metrics);
    this.#status = {
      ok: false,
      registryVersion: '',
      tools: 0,
      lastAttemptAt: '',
      lastSuccessAt: '',
      durationMs: 0,
      problems: [],
    };
  }

  /** The first load, then watching. Throws LoadError. */
  async start(): Promise<void> {
    const status = await this.reload();
    if (!status.ok) throw new LoadError(status.problems);
    for (const loader of this.#deps.loaders) {
      const watch = loader.watch?.(() => void this.reload(), this.#stopping.signal);
      if (watch !== undefined) this.#watches.push(watch);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#watches);
    await this.#running;
  }

  chainOf(fn: ToolFunction): Next | undefined {
    return this.#chains.get(fn);
  }

  status(): ReloadStatus {
    return this.#status;
  }

  setDisabled(toolName: string, disabled: boolean): boolean {
    const found = this.#deps.registry.setDisabled(toolName, disabled);
    if (found) this.#deps.log.warn({ tool: toolName, disabled }, 'kill switch turned');
    return found;
  }

  /** One at a time; asked for while one runs, another follows it, so that the newest state is always taken. */
  reload(): Promise<ReloadStatus> {
    if (this.#running !== undefined) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#reloadUntilQuiet().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #reloadUntilQuiet(): Promise<ReloadStatus> {
    do {
      this.#again = false;
      const startedAt = performance.now();
      const problems = await this.#takeNewSet().catch((error: unknown) => [
        { file: 'loader', message: String(error) },
      ]);
      this.#report(problems, performance.now() - startedAt);
    } while (this.#again && !this.#stopping.signal.aborted);
    return this.#status;
  }

  /** Returns what is wrong; nothing is changed then. */
  async #takeNewSet(): Promise<readonly Problem[]> {
    const { loaders, rules, registry } = this.#deps;
    const loaded: LoadedTools[] = await Promise.all(
      loaders.map((loader) => loader.load(this.#stopping.signal)),
    );
    const { tools, connections, problems } = validateLoaded(loaded, rules, this.#cache);
    if (problems.length > 0) return problems;
    const next = new Map<string, Built>();
    const failed = await this.#buildAll(tools, connections, next);
    if (failed.length > 0) {
      this.#close([...next.values()].filter((built) => this.#built.get(built.checked.spec.name) !== built));
      return failed;
    }
    const retired = [...this.#built]
      .filter(([name, built]) => next.get(name) !== built)
      .map(([, built]) => built);
    const all = [...next.values()];
    const snapshot = snapshotOf(
      all.map((built) => built.checked.spec),
      all.flatMap((built) => built.functions),
    );
    this.#built = next;
    registry.publish(snapshot, () => this.#close(retired));
    return [];
  }

  async #buildAll(
    tools: readonly CheckedTool[],
    connections: ReadonlyMap<string, Connection>,
    into: Map<string, Built>,
  ): Promise<readonly Problem[]> {
    const problems: Problem[] = [];
    const pending: Promise<void>[] = [];
    for (const checked of tools) {
      const { name } = checked.spec;
      const connection =
        checked.connectionName === undefined ? undefined : connections.get(checked.connectionName);
      const known = this.#built.get(name);
      if (known !== undefined && known.checked === checked && known.connection === connection)
        into.set(name, known);
      else pending.push(this.#build(checked, connection, into, problems));
    }
    await Promise.all(pending);
    return problems;
  }

  async #build(
    checked: CheckedTool,
    connection: Connection | undefined,
    into: Map<string, Built>,
    problems: Problem[],
  ): Promise<void> {
    const { spec, options } = checked;
    const executor = this.#deps.executors.get(spec.toolType);
    if (executor === undefined) throw new Error(`no executor ${spec.toolType}`);
    const functions = functionsOf(spec);
    const prepared: PreparedFunction[] = [];
    try {
      // The legacy form comes last and runs nothing of its own.
      for (const fn of functions.filter(({ byAction }) => byAction === undefined))
        prepared.push(await executor.prepare({ function: fn, options, connection }));
    } catch (error) {
      const place = checked.declaration.locate(['implementation_config']);
      problems.push({
        ...place,
        tool: spec.name,
        path: 'implementation_config',
        message: (error as Error).message,
      });
    }
    const built: Built = { checked, connection, functions, prepared };
    into.set(spec.name, built);
    for (const [index, fn] of functions.entries()) {
      const ready = prepared[index];
      if (ready !== undefined) this.#chains.set(fn, this.#deps.compile(fn, ready, checked));
    }
  }

  #close(built: readonly Built[]): void {
    for (const fn of built.flatMap(({ prepared }) => prepared)) {
      fn.close?.().catch((error: unknown) => this.#deps.log.warn({ err: error }, 'a tool did not close'));
    }
  }

  #report(problems: readonly Problem[], durationMs: number): void {
    const { clock, log, registry } = this.#deps;
    const { version, specs } = registry.snapshot();
    const now = new Date(clock.now()).toISOString();
    const ok = problems.length === 0;
    this.#status = {
      ok,
      registryVersion: version,
      tools: specs.length,
      lastAttemptAt: now,
      lastSuccessAt: ok ? now : this.#status.lastSuccessAt,
      durationMs: Math.round(durationMs),
      problems,
    };
    this.#metrics.record(ok, clock.now(), specs.length);
    if (ok)
      log.info(
        { registryVersion: version, tools: specs.length, durationMs: Math.round(durationMs) },
        'tools loaded',
      );
    for (const problem of problems)
      log.error({ ...problem }, 'the new tools were refused; the last good set stays in force');
  }
}
