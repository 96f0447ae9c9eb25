// Patience: how much of what nobody asked for a server may send within a minute before it is cut off.
import type { Clock } from '../../../ports/clock.ts';

const WINDOW_MS = 60_000;

/** What is wrong with a message, or tiresome about it; also the label of the metric. */
export type Nuisance = 'garbage' | 'unknown_id' | 'unasked_progress' | 'server_request' | 'notification';

/** Logs on stdout and late answers are common faults of honest servers; floods are not. */
const LIMITS: { readonly [Kind in Nuisance]: number } = {
  garbage: 200,
  unknown_id: 100,
  unasked_progress: 10_000,
  server_request: 600,
  notification: 60_000,
};

export class Patience {
  readonly #clock: Clock;
  readonly #counts = new Map<Nuisance, number>();
  #windowStart: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#windowStart = clock.now();
  }

  /** False: that was one too many. */
  spend(kind: Nuisance): boolean {
    const now = this.#clock.now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#counts.clear();
    }
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return count <= LIMITS[kind];
  }
}
