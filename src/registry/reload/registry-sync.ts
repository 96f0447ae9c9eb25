// RegistrySync: loaders in, snapshots out. A load is taken whole or not at all; what did not change is not built again.
import type { Connection, Draft, Loader } from '../../contract/plugin.ts';
import type { LoadedTools, Problem } from '../../contract/tool/loaded-tools.ts';
import type { ToolCompiler } from '../../contract/tool/compiled-tool.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import { inSlices } from '../../lib/concurrency/in-slices.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge, Metrics } from '../../ports/telemetry/metrics.ts';
import type { RegistryControl, ReloadStatus } from '../../ports/registry/registry-control.ts';
import { declarationsOf, executorsReady } from '../checks/executors-ready.ts';
import { buildTool, type Built, type Executors } from '../build-tool.ts';
import type { Ready } from '../compile-built.ts';
import { buildSet, connectionOf } from './build-set.ts';
import { ReloadReporter, type Outcome } from './reload-reporter.ts';
import { watchStale } from './stale-functions.ts';
import type { NamedLoader, ToolSource } from './tool-source.ts';
import { ToolSources } from './tool-sources.ts';
import { NO_ADVICE, ProviderAdvisor } from './provider-advice.ts';
import { makingSnapshot, type ToolSpecRegistry } from '../tool-spec-registry.ts';
import { validating, type CheckedTool, type SpecRules } from '../checks/spec-validation.ts';
import { emptySet, newValidationCache, type ValidationCache } from '../checks/validation-cache.ts';

export interface SyncDeps {
  readonly registry: ToolSpecRegistry;
  /** In the order of gateway.yaml. */
  readonly loaders: readonly NamedLoader[];
  readonly rules: SpecRules;
  readonly executors: Executors;
  readonly compiler: ToolCompiler;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** 1 while a source is away and something stands in for it. */
  readonly degraded: Gauge;
  /** Told of every set that comes into force: what loaders that keep no versions brought, and what it replaced. */
  readonly versions?: { taken(inForce: readonly CheckedTool[], superseded: readonly CheckedTool[]): void };
}

export type DraftCheck = { readonly spec: ToolSpec } | { readonly problems: readonly Problem[] };

/** A first load that failed: there is no last good set to go on with. */
export class LoadError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(`the tools could not be loaded: ${problems.length} problem${problems.length === 1 ? '' : 's'}`);
    this.name = 'LoadError';
  }
}

export class RegistrySync implements RegistryControl {
  readonly #deps: SyncDeps;
  readonly #sources: ToolSources;
  readonly #reporter: ReloadReporter;
  readonly #cache: ValidationCache = newValidationCache();
  readonly #advisor: ProviderAdvisor;
  readonly #stopping = new AbortController();
  #watchedHandlers: Promise<void> | undefined;
  #built = new Map<string, Ready>();
  /** What the set in force was made of, and who brought it. */
  #loaded: readonly { readonly loader: Loader; readonly loaded: LoadedTools }[] = [];
  #connections: ReadonlyMap<string, Connection> = new Map();
  #running: Promise<ReloadStatus> | undefined;
  #again = false;
  readonly #building = Promise.withResolvers<void>();
  /** Settles when tools have been read and checked for the first time: what executors start for them is under way. */
  readonly building = this.#building.promise;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
    this.#reporter = new ReloadReporter(deps);
    this.#advisor = new ProviderAdvisor(deps.rules);
    this.#sources = new ToolSources(deps.loaders, { ...deps, came: () => void this.reload() });
  }

  /** The first load, then watching. Throws LoadError. */
  async start(): Promise<void> {
    const status = await this.reload();
    if (!status.ok) throw new LoadError(status.problems);
    this.#sources.watch();
    const handlers = {
      clock: this.#deps.clock,
      prepared: () => [...this.#built.values()].flatMap(({ prepared }) => prepared),
      reload: () => this.reload(),
    };
    this.#watchedHandlers = watchStale(handlers, this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    // A source may hang, and a reload with it: what it would bring is of no use any more.
    await this.#sources.stop([this.#watchedHandlers, this.#running]);
  }

  /**
   * Takes these loaders from now on, at once. A loader that was there before goes on as it is. While what they bring together is
   * refused, the set in force stays, as after any other change.
   */
  use(loaders: readonly NamedLoader[]): void {
    const gone = this.#sources.replace(loaders);
    if (gone !== undefined) void this.#changeTo(gone);
  }

  /** Watched once they have loaded, so that nobody takes a first load for a change. Never rejects. */
  async #changeTo(gone: readonly ToolSource[]): Promise<void> {
    await this.reload();
    if (!this.#stopping.signal.aborted) this.#sources.watch();
    await this.#sources.close(gone);
  }

  status(): ReloadStatus {
    return this.#reporter.status;
  }

  /** Those of the set in force. */
  connections(): ReadonlyMap<string, Connection> {
    return this.#connections;
  }

  /** All that a load would find wrong if this loader brought the draft. What is in force is left alone. */
  async validateDraft(loader: Loader, { loaded, declaration }: Draft): Promise<DraftCheck> {
    const { rules, executors } = this.#deps;
    const sets = this.#loaded.map((each) => (each.loader === loader ? loaded : each.loaded));
    const cache = { good: this.#cache.good, attempt: emptySet() };
    await executorsReady(declarationsOf(sets), rules);
    const { tools, connections, problems } = await inSlices(validating(sets, rules, cache));
    const checked = tools.find((tool) => tool.declaration === declaration);
    if (problems.length > 0 || checked === undefined) return { problems };
    const built = await buildTool(checked, connectionOf(checked, connections), executors);
    this.#close([built]);
    return built.problem === undefined ? { spec: checked.spec } : { problems: [built.problem] };
  }

  setDisabled(toolName: string, disabled: boolean): boolean {
    const found = this.#deps.registry.setDisabled(toolName, disabled);
    if (found)
      this.#deps.log.warn({ tool: toolName, disabled }, 'the kill switch of a tool was set or cleared');
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
      const outcome = await this.#takeNewSet().catch((error: unknown) => ({
        problems: [{ file: 'loader', message: String(error) }],
        warnings: [],
        leftOut: [],
        advice: NO_ADVICE,
      }));
      // What was cut off by the stop is no news for anybody.
      if (this.#stopping.signal.aborted) break;
      this.#reporter.record(outcome, this.#deps.registry.snapshot(), performance.now() - startedAt);
    } while (this.#again && !this.#stopping.signal.aborted);
    return this.#reporter.status;
  }

  /** Where there are problems, nothing is changed. */
  async #takeNewSet(): Promise<Outcome> {
    const { rules, registry } = this.#deps;
    const { signal } = this.#stopping;
    const given = await Promise.all(
      this.#sources.inOrder.map(async (source) => ({ source, ...(await source.load(signal)) })),
    );
    const loaded = given.map((each) => each.loaded);
    await executorsReady(declarationsOf(loaded), rules);
    const checked = await inSlices(validating(loaded, rules, this.#cache));
    const { connections, problems } = checked;
    const warnings = given.flatMap(({ warning }) => warning ?? []);
    if (problems.length > 0) return { problems, warnings, leftOut: [], advice: NO_ADVICE };
    const set = { tools: checked.tools, connections, known: this.#built };
    const building = buildSet(set, this.#deps);
    this.#building.resolve();
    const { ready: next, failed, leftOut: unbuilt } = await building;
    this.#close(unbuilt);
    const leftOut = [...checked.leftOut, ...unbuilt.flatMap(({ problem }) => problem ?? [])];
    if (failed.length > 0) {
      this.#close([...next.values()].filter((each) => this.#built.get(each.checked.spec.name) !== each));
      return { problems: failed, warnings, leftOut: [], advice: NO_ADVICE };
    }
    const tools = checked.tools.filter(({ spec }) => next.has(spec.name));
    const retired = [...this.#built]
      .filter(([name, each]) => next.get(name) !== each)
      .map(([, each]) => each);
    const all = [...next.values()];
    const specs = all.map((each) => each.checked.spec);
    const compiled = all.flatMap((each) => each.tools);
    const snapshot = await inSlices(makingSnapshot(specs, compiled));
    this.#built = next;
    this.#loaded = given.map(({ source: { loader }, loaded: brought }) => ({ loader, loaded: brought }));
    this.#connections = connections;
    registry.publish(snapshot, () => this.#close(retired));
    for (const { source, ...each } of given) source.taken(each);
    this.#tellVersions(tools, retired);
    return { problems, warnings, leftOut, advice: await this.#advisor.of(tools) };
  }

  #tellVersions(tools: readonly CheckedTool[], retired: readonly Built[]): void {
    const { versions } = this.#deps;
    const elsewhere = new Set(
      this.#loaded.flatMap(({ loader, loaded }) => (loader.draft === undefined ? loaded.tools : [])),
    );
    versions?.taken(
      tools.filter(({ declaration }) => elsewhere.has(declaration)),
      retired.map(({ checked }) => checked),
    );
  }

  #close(built: readonly Built[]): void {
    for (const fn of built.flatMap(({ prepared }) => prepared)) {
      fn.close?.().catch((error: unknown) =>
        this.#deps.log.warn(
          { err: error },
          'a tool that is no longer in force could not be closed: what it holds may leak',
        ),
      );
    }
  }
}
