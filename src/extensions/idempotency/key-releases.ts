// KeyReleases: gives back the keys of calls that did not run, until the store has taken them back.
import { pause } from '../../lib/timers/pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HeldKey, IdempotencyStore } from '../../ports/idempotency-store.ts';
import type { Log } from '../../ports/telemetry/log.ts';

const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 5_000;
/** Looks for a key that the store may have given: a statement on a lost connection can arrive for about half a minute. */
const LOOKS = 11;
const ONCE = 1;

export class KeyReleases {
  readonly #store: IdempotencyStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #closed = new AbortController();

  constructor(store: IdempotencyStore, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Settles after the first try; what that could not do is done later. */
  async release(held: HeldKey): Promise<void> {
    await this.#store.release(held).catch((error: unknown) => {
      this.#log.warn(
        { callId: held.callId, err: error },
        'an idempotency key could not be given back: it is tried again in the background',
      );
      void this.#releaseInBackground(held, ONCE);
    });
  }

  /** For a call that does not run, and that may have been given its key although the answer was lost. */
  releaseWhenFound(held: HeldKey): void {
    void this.#releaseInBackground(held, LOOKS);
  }

  /** Whoever repeats a call whose key was not given back yet learns that nobody knows how it ended. */
  close(): void {
    this.#closed.abort();
  }

  /** Until it was found and given back, or the store has said so often that there is nothing. */
  async #releaseInBackground(held: HeldKey, looks: number): Promise<void> {
    const { signal } = this.#closed;
    let left = looks;
    for (let pauseMs = FIRST_PAUSE_MS; left > 0; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
      await pause(this.#clock, pauseMs, signal);
      if (signal.aborted) return;
      const found = await this.#store.release(held).catch(() => undefined);
      if (found === true) return;
      if (found === false) left -= 1;
    }
  }
}
