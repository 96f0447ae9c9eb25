// RestartBudget: how soon a server that failed may be tried again, and when it is left alone for a while.
import { backoffMs, type Backoff } from '../../../lib/timers/backoff.ts';
import type { Clock } from '../../../ports/clock.ts';

const WINDOW_MS = 60_000;
const DELAYS: Backoff = { firstMs: 100, lastMs: 5_000 };

export class RestartBudget {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #maxFailures: number;
  /** When each failure of the last minute happened, the oldest first. */
  #failures: number[] = [];
  /** Since the last time it worked. */
  #inARow = 0;

  constructor(clock: Clock, random: () => number, maxFailures: number) {
    this.#clock = clock;
    this.#random = random;
    this.#maxFailures = maxFailures;
  }

  failed(): void {
    this.#inARow += 1;
    // More than the limit is never needed to know that it is reached.
    this.#failures = [...this.#failures, this.#clock.now()].slice(-this.#maxFailures);
  }

  /** A call was answered: the next failure is a first one again. The failures of this minute still count. */
  worked(): void {
    this.#inARow = 0;
  }

  /** Until the next attempt is allowed at all; 0: now. */
  spentForMs(): number {
    const [oldest] = this.#failures;
    if (this.#failures.length < this.#maxFailures || oldest === undefined) return 0;
    return Math.max(0, oldest + WINDOW_MS - this.#clock.now());
  }

  /** What the next attempt waits: full jitter under an exponential ceiling, so that gateways do not come all at once. */
  delayMs(): number {
    if (this.#inARow === 0) return 0;
    return Math.floor(backoffMs(DELAYS, this.#inARow - 1, this.#random));
  }
}
