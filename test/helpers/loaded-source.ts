// A loader as the registry asks it: what a load brings, or what is kept while the source is away, with the warning of that.
import type { Loader } from '../../src/contract/plugin.ts';
import type { LoadedTools, Problem } from '../../src/contract/tool/loaded-tools.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/telemetry/log.ts';
import type { Metrics } from '../../src/ports/telemetry/metrics.ts';
import { ToolSource, type Given } from '../../src/registry/reload/tool-source.ts';

export interface LoadedSource extends LoadedTools {
  readonly warnings: readonly Problem[];
}

export class SourceLoader implements Loader {
  readonly #source: ToolSource;
  readonly #ending = new AbortController();
  #given: Given | undefined;

  constructor(
    type: string,
    loader: Loader,
    needs: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
  ) {
    this.#source = new ToolSource({ type, loader }, { ...needs, came: () => undefined });
  }

  async load(signal: AbortSignal = this.#ending.signal): Promise<LoadedSource> {
    const given = await this.#source.load(signal);
    this.#given = given;
    const { loaded, warning } = given;
    return { ...loaded, warnings: warning === undefined ? [] : [warning] };
  }

  /** What the last load gave is in force. */
  taken(): void {
    if (this.#given !== undefined) this.#source.taken(this.#given);
  }

  watch(changed: () => void, signal: AbortSignal = this.#ending.signal): Promise<void> {
    return this.#source.loader.watch?.(changed, signal) ?? Promise.resolve();
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#source.close();
  }
}
