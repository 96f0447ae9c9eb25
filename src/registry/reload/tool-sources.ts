// ToolSources: the loaders that the registry asks, in the order of gateway.yaml. Which they are may change while the gateway runs.
import { settledWithin } from '../../lib/timers/settled-within.ts';
import { ToolSource, type NamedLoader, type SourceNeeds } from './tool-source.ts';

const STOP_WITHIN_MS = 1_000;

export class ToolSources {
  readonly #needs: SourceNeeds;
  #inOrder: readonly ToolSource[];
  readonly #closing = new Set<Promise<void>>();

  constructor(loaders: readonly NamedLoader[], needs: SourceNeeds) {
    this.#needs = needs;
    this.#inOrder = loaders.map((named) => new ToolSource(named, needs));
  }

  get inOrder(): readonly ToolSource[] {
    return this.#inOrder;
  }

  /**
   * A loader that was there before goes on as it is. Those that are gone are watched no more, and are to be closed once no load
   * asks them. Undefined: they are the same, in the same order.
   */
  replace(loaders: readonly NamedLoader[]): readonly ToolSource[] | undefined {
    const before = this.#inOrder;
    const isSame = (named: NamedLoader, at: number) => before[at]?.loader === named.loader;
    if (loaders.length === before.length && loaders.every(isSame)) return undefined;
    const known = new Map(before.map((source) => [source.loader, source]));
    const next = loaders.map((named) => known.get(named.loader) ?? new ToolSource(named, this.#needs));
    this.#inOrder = next;
    const gone = before.filter((source) => !next.includes(source));
    for (const source of gone) source.unwatch();
    return gone;
  }

  watch(): void {
    for (const source of this.#inOrder) source.watch();
  }

  /** Never rejects. */
  async close(sources: readonly ToolSource[] = this.#inOrder): Promise<void> {
    const closing = Promise.allSettled(sources.map((source) => source.close())).then(() => undefined);
    this.#closing.add(closing);
    await closing;
    this.#closing.delete(closing);
  }

  /** Waits a second for what is under way, `loads` among it, and closes all of them then. */
  async stop(loads: readonly (Promise<unknown> | undefined)[]): Promise<void> {
    for (const source of this.#inOrder) source.unwatch();
    const ended = this.#inOrder.map((source) => source.watched);
    await settledWithin(
      this.#needs.clock,
      STOP_WITHIN_MS,
      Promise.allSettled([...ended, ...this.#closing, ...loads]),
    );
    await this.close();
  }
}
