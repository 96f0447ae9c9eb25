// ProtocolViolationBudget: how much of what nobody asked for a server may send within a minute before it is cut off.
import type { Clock } from '../../../ports/clock.ts';

const WINDOW_MS = 60_000;

/** What a message is that nobody asked for, or that nobody can read; also the label of the metric. */
export type ProtocolViolation =
  | 'garbage'
  | 'unknown_id'
  | 'unasked_progress'
  | 'server_request'
  | 'notification';

/** Logs on stdout and late answers are common faults of honest servers; floods are not. */
const LIMITS: { readonly [Kind in ProtocolViolation]: number } = {
  garbage: 200,
  unknown_id: 100,
  unasked_progress: 10_000,
  server_request: 600,
  notification: 60_000,
};

export class ProtocolViolationBudget {
  readonly #clock: Clock;
  readonly #counts = new Map<ProtocolViolation, number>();
  #windowStart: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#windowStart = clock.now();
  }

  /** False: that was one too many. */
  spend(kind: ProtocolViolation): boolean {
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
