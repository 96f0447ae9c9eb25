// ToolSearcher: searches sets of tools. Each set has an index of its own, made when it is first wanted, and gone with the set.
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import { inSlices, yieldToLoop } from '../../lib/concurrency/in-slices.ts';
import { OneByOne } from '../../lib/concurrency/one-by-one.ts';
import type { SearchWanted, ToolSearch } from '../../ports/registry/tool-search.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import type { Histogram, Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';
import { ToolIndex } from './tool-index.ts';

export interface SearchDeps {
  readonly catalog: ToolCatalog;
  readonly metrics: Metrics;
}

export class ToolSearcher implements ToolSearch {
  readonly #catalog: ToolCatalog;
  readonly #seconds: Histogram;
  readonly #indexes = new WeakMap<ToolSet, Promise<ToolIndex>>();
  /** Slices of several at once would follow each other without a turn for anything else. */
  readonly #turns = new OneByOne();
  readonly #unsubscribe: () => void;
  /** Whether anybody has searched all the tools: only then is their index kept ready. */
  #isAllWanted = false;

  constructor({ catalog, metrics }: SearchDeps) {
    this.#catalog = catalog;
    this.#seconds = metrics.histogram(TOOLS_SERIES.ute_tool_search_duration_seconds).with();
    this.#unsubscribe = catalog.onChange((snapshot) => {
      // Whoever searches is told what went wrong.
      if (this.#isAllWanted) this.prepare(snapshot).catch(() => undefined);
    });
  }

  close(): void {
    this.#unsubscribe();
  }

  /** Resolves when the set can be searched at once. */
  async prepare(set: ToolSet): Promise<void> {
    await this.#indexOf(set);
  }

  async search({ set, query, limit, may }: SearchWanted): Promise<readonly ToolFunction[]> {
    if (set === this.#catalog.snapshot()) this.#isAllWanted = true;
    const index = await this.#indexOf(set);
    return this.#turns.run('', async () => {
      const began = performance.now();
      const found = await inSlices(index.search(query, limit, may));
      this.#seconds.observe((performance.now() - began) / 1000);
      await yieldToLoop();
      return found;
    });
  }

  #indexOf(set: ToolSet): Promise<ToolIndex> {
    let index = this.#indexes.get(set);
    if (index === undefined) {
      // The deprecated form of a tool is still served, and no longer offered.
      index = inSlices(ToolIndex.of(set.functions.filter(({ byAction }) => byAction === undefined)));
      this.#indexes.set(set, index);
    }
    return index;
  }
}
