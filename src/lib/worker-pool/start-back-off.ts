// StartBackOff: stops starting workers for a while when they keep dying before they are ready.
import type { PoolClock } from './pool-options.ts';

const DEATHS = 3;
const WINDOW_MS = 30_000;
const PAUSE_MS = 5_000;

/** Three deaths within thirty seconds stop the starting for five; a worker that becomes ready clears the count. */
export class StartBackOff {
  readonly #clock: PoolClock;
  #deaths: number[] = [];
  #openUntil = 0;

  constructor(clock: PoolClock) {
    this.#clock = clock;
  }

  /** Milliseconds until a worker may be started; 0 = now. */
  pauseMs(): number {
    return Math.max(0, this.#openUntil - this.#clock.now());
  }

  died(): void {
    const now = this.#clock.now();
    this.#deaths = [...this.#deaths.filter((at) => now - at < WINDOW_MS), now].slice(-DEATHS);
    if (this.#deaths.length === DEATHS) this.#openUntil = now + PAUSE_MS;
  }

  becameReady(): void {
    this.#deaths = [];
    this.#openUntil = 0;
  }
}
