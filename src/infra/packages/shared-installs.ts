// Installations under way: one of each at a time for all who wait for it, ended when nobody does any more, and not tried
// again at once after it has failed.
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { abortable } from '../../lib/concurrency/abortable.ts';
import { backoffMs, type Backoff } from '../../lib/timers/backoff.ts';
import type { Clock } from '../../ports/clock.ts';

interface UnderWay {
  readonly done: Promise<void>;
  readonly stop: AbortController;
  waiting: number;
}

interface Failed {
  readonly failure: ToolFailure;
  readonly times: number;
  readonly until: number;
}

/** A registry that is away is not asked by every call. */
const DELAYS: Backoff = { firstMs: 1_000, lastMs: 60_000, least: 1 };

export class SharedInstalls {
  readonly #clock: Clock;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #failed = new Map<string, Failed>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async wait(
    key: string,
    signal: AbortSignal | undefined,
    install: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    signal?.throwIfAborted();
    let shared = this.#underWay.get(key);
    while (shared?.stop.signal.aborted === true) {
      await shared.done.catch(() => undefined);
      signal?.throwIfAborted();
      shared = this.#underWay.get(key);
    }
    shared ??= this.#begin(key, install);
    shared.waiting += 1;
    try {
      await (signal === undefined ? shared.done : abortable(shared.done, signal));
    } finally {
      shared.waiting -= 1;
      if (shared.waiting === 0) shared.stop.abort(signal?.reason);
    }
  }

  /** Ends all of them, and waits until they have removed what they had begun. */
  async close(reason: unknown): Promise<void> {
    const all = [...this.#underWay.values()];
    for (const { stop } of all) stop.abort(reason);
    await Promise.allSettled(all.map(({ done }) => done));
  }

  #begin(key: string, install: (signal: AbortSignal) => Promise<void>): UnderWay {
    this.#refuseTooSoon(key);
    const stop = new AbortController();
    const done = this.#run(key, stop.signal, install).finally(() => this.#underWay.delete(key));
    const shared = { done, stop, waiting: 0 };
    this.#underWay.set(key, shared);
    return shared;
  }

  async #run(
    key: string,
    signal: AbortSignal,
    install: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    try {
      await install(signal);
      this.#failed.delete(key);
    } catch (error) {
      // Nobody waits for it any more: it has not failed.
      signal.throwIfAborted();
      if (error instanceof ToolFailure) {
        const times = this.#failed.get(key)?.times ?? 0;
        const until = this.#clock.now() + backoffMs(DELAYS, times, () => 1);
        this.#failed.set(key, { failure: error, times: times + 1, until });
      }
      throw error;
    }
  }

  #refuseTooSoon(key: string): void {
    const failed = this.#failed.get(key);
    const retryAfterMs = Math.ceil((failed?.until ?? 0) - this.#clock.now());
    if (failed === undefined || retryAfterMs <= 0) return;
    const { message, cause } = failed.failure;
    throw toolFailure('PACKAGE_NOT_INSTALLED', message, { partialSideEffects: false, retryAfterMs, cause });
  }
}
