// ToolSource: one loader, as the registry asks it. While its source is away, what it gave last is kept, said and counted.
import type { Loader } from '../../contract/plugin.ts';
import type { LoadedTools, Problem } from '../../contract/tool/loaded-tools.ts';
import { SourceAway, type KeptTools } from '../../contract/tool/source-away.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { staleGauge, type StaleGauge } from './reload-metrics.ts';

/** A loader of gateway.yaml, under its type there. */
export interface NamedLoader {
  readonly type: string;
  readonly loader: Loader;
}

export interface SourceNeeds {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** A loader has something new, or has come too late for the load that asked it. */
  readonly came: () => void;
}

/** What a source adds to a set of tools. */
export interface Given {
  readonly loaded: LoadedTools;
  /** Set: the source is away, and this stands in for it. */
  readonly warning?: Problem;
}

type Answer = LoadedTools | SourceAway;

/** How long a start, or a reload, waits for a loader that is not required. */
const PATIENCE_MS = 2_000;
const NOTHING: LoadedTools = { tools: [], connections: [], problems: [] };

export class ToolSource {
  readonly loader: Loader;
  readonly #file: string;
  readonly #needs: SourceNeeds;
  readonly #log: Log;
  readonly #stale: StaleGauge;
  /** What the source gave last that came into force, and when it gave that. */
  #last: (Given & { readonly at: string }) | undefined;
  /** A load of a loader that is not required, which goes on although it is not waited for. */
  #asked: Promise<Answer> | undefined;
  #isAwaited = false;
  #isAway = false;
  readonly #unwatching = new AbortController();
  readonly #closing = new AbortController();
  /** Settles when it is watched no more. Undefined: it never was. */
  watched: Promise<void> | undefined;

  constructor({ type, loader }: NamedLoader, needs: SourceNeeds) {
    this.loader = loader;
    this.#file = loader.source ?? type;
    this.#needs = needs;
    this.#log = needs.log.child({ loader: type, source: this.#file });
    this.#stale = staleGauge(needs.metrics, type, loader.source);
  }

  /** Rejects only when the signal aborts, or the source is closed: whatever else goes wrong is a problem. */
  async load(stopping: AbortSignal): Promise<Given> {
    const signal = AbortSignal.any([stopping, this.#closing.signal]);
    try {
      const answer = await this.#answer(signal);
      if (!(answer instanceof SourceAway)) {
        this.#tell(undefined);
        return { loaded: answer };
      }
      this.#tell(answer);
      return await this.#without(answer, signal);
    } catch (error) {
      signal.throwIfAborted();
      return this.#refused(String(error));
    }
  }

  /** It is part of the set in force. */
  taken(given: Given): void {
    if (given.warning !== undefined) return;
    this.#last = { ...given, at: new Date(this.#needs.clock.wall()).toISOString() };
    this.loader.taken?.();
  }

  /** From the first time on that it is called. */
  watch(): void {
    this.watched ??= this.loader.watch?.(this.#needs.came, this.#unwatching.signal);
  }

  unwatch(): void {
    this.#unwatching.abort();
    this.#stale.set(false);
  }

  /** Ends a load that goes on although nobody waits for it. */
  async close(): Promise<void> {
    this.unwatch();
    this.#closing.abort();
    await this.#asked?.catch(() => undefined);
    await this.loader.close?.();
  }

  /** The load that is under way, or a new one: loads of one loader never overlap. */
  async #answer(signal: AbortSignal): Promise<Answer> {
    if (this.loader.required !== false) return answerOf(this.loader, signal);
    const asked = (this.#asked ??= answerOf(this.loader, signal));
    let isOver = true;
    try {
      const answer = await this.#inTime(asked);
      isOver = answer !== undefined;
      return answer ?? this.#tooSlow(asked);
    } finally {
      if (isOver) [this.#asked, this.#isAwaited] = [undefined, false];
    }
  }

  async #inTime(asked: Promise<Answer>): Promise<Answer | undefined> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const disarm = this.#needs.clock.after(PATIENCE_MS, () => resolve(undefined));
    return Promise.race([asked, late]).finally(disarm);
  }

  #tooSlow(asked: Promise<Answer>): SourceAway {
    if (!this.#isAwaited) {
      this.#isAwaited = true;
      const came = () => {
        if (this.#asked === asked) this.#needs.came();
      };
      void asked.then(came, came);
    }
    return new SourceAway('has not answered yet; its tools come when it does');
  }

  async #without(away: SourceAway, signal: AbortSignal): Promise<Given> {
    const kept = (await this.loader.kept?.(signal)) ?? this.#given();
    if (kept !== undefined) {
      const message = `${away.message}; ${kept.says}`;
      return { loaded: kept.loaded, warning: { file: this.#file, message } };
    }
    if (this.loader.required !== false) return this.#refused(away.message);
    return { loaded: NOTHING, warning: { file: this.#file, message: away.message } };
  }

  #given(): KeptTools | undefined {
    if (this.#last === undefined) return undefined;
    const { loaded, at } = this.#last;
    return { loaded, says: `what it gave at ${at} stays in force` };
  }

  #refused(message: string): Given {
    return { loaded: { ...NOTHING, problems: [{ file: this.#file, message }] } };
  }

  /** Once each way, not at every look. */
  #tell(away: SourceAway | undefined): void {
    const isAway = away !== undefined;
    this.#stale.set(isAway);
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    if (isAway)
      this.#log.warn(
        { reason: away.message, degraded: true, ...(away.cause !== undefined && { err: away.cause }) },
        'a source of tools is away: what is kept of it stays in force until it is back',
      );
    else this.#log.info({}, 'a source of tools is back');
  }
}

async function answerOf(loader: Loader, signal: AbortSignal): Promise<Answer> {
  try {
    return await loader.load(signal);
  } catch (error) {
    if (error instanceof SourceAway) return error;
    throw error;
  }
}
