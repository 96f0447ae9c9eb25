// ToolsetRegistry: the toolsets in force. Built anew when tools or their descriptions change, beside everything else that runs.
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import type { Toolset } from '../../contract/tool/toolset.ts';
import { inSlices } from '../../lib/concurrency/in-slices.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import type { Toolsets, ToolsetInForce } from '../../ports/registry/toolsets.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';
import { buildToolset, type SearchTools } from './build-toolset.ts';
import type { ToolsetDefinition, ToolsetWarning } from './toolset-definition.ts';

export type ToolsetDefinitions = Readonly<Record<string, ToolsetDefinition>>;

export interface ToolsetDeps {
  readonly catalog: ToolCatalog;
  /** Left out: every toolset is listed in full. */
  readonly search?: (toolset: Toolset) => SearchTools;
  /** Awaited before a toolset that is searched comes into force. */
  readonly prepare?: (tools: ToolSet) => Promise<void>;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Of one change. */
const MOST_LINES = 50;

export class ToolsetRegistry implements Toolsets {
  readonly #deps: ToolsetDeps;
  readonly #listeners = new Set<() => void>();
  readonly #counts: Labelled<Gauge>;
  readonly #unsubscribe: () => void;
  #definitions: ToolsetDefinitions;
  #built: ReadonlyMap<string, ToolsetInForce> = new Map();
  #builtOf: ToolSet | undefined;
  #building: Promise<void> = Promise.resolve();
  #told = '[]';
  #warnings: readonly ToolsetWarning[] = [];

  constructor(definitions: ToolsetDefinitions, deps: ToolsetDeps) {
    this.#deps = deps;
    this.#definitions = definitions;
    this.#counts = deps.metrics.gauge(TOOLS_SERIES.ute_toolset_tools);
    this.#unsubscribe = deps.catalog.onChange((snapshot) => {
      // A kill switch leaves the set as it is.
      if (snapshot === this.#builtOf) this.#tell();
      else this.#rebuild();
    });
  }

  find(name: string): ToolsetInForce | undefined {
    return this.#built.get(name);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Of those in force. */
  get warnings(): readonly ToolsetWarning[] {
    return this.#warnings;
  }

  /** Puts other toolsets in force, as gateway.yaml has them now. */
  replace(definitions: ToolsetDefinitions): void {
    if (JSON.stringify(definitions) === JSON.stringify(this.#definitions)) return;
    this.#definitions = definitions;
    this.#deps.log.info({ toolsets: Object.keys(definitions) }, 'the toolsets of gateway.yaml were changed');
    this.#rebuild();
  }

  /** Resolves when the toolsets are those of the tools in force now. */
  settled(): Promise<void> {
    return this.#building;
  }

  close(): void {
    this.#unsubscribe();
  }

  #rebuild(): void {
    this.#building = this.#building.then(() => this.#build());
  }

  async #build(): Promise<void> {
    const snapshot = this.#deps.catalog.snapshot();
    const definitions = this.#definitions;
    const built = new Map<string, ToolsetInForce>();
    const warnings: ToolsetWarning[] = [];
    try {
      for (const [name, definition] of Object.entries(definitions)) {
        const made = await inSlices(buildToolset(name, definition, snapshot, this.#deps.search));
        if (made.toolset.search !== undefined) await this.#deps.prepare?.(made.toolset.tools);
        built.set(name, made.toolset);
        warnings.push(...made.warnings);
      }
    } catch (error) {
      this.#deps.log.error(
        { err: error },
        'the toolsets could not be built: those from before stay in force',
      );
      return;
    }
    for (const name of this.#built.keys()) if (!built.has(name)) this.#counts.with(name).set(0);
    for (const [name, { tools }] of built) this.#counts.with(name).set(tools.functions.length);
    this.#built = built;
    this.#builtOf = snapshot;
    this.#warn(warnings);
    this.#tell();
  }

  #warn(warnings: readonly ToolsetWarning[]): void {
    this.#warnings = warnings;
    const told = JSON.stringify(warnings);
    if (told === this.#told) return;
    this.#told = told;
    for (const warning of warnings.slice(0, MOST_LINES))
      this.#deps.log.warn(
        { ...warning, path: warning.path.join('.') },
        'a toolset names something that is not there, or cannot be offered so',
      );
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
