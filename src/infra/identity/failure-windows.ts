// FailureWindows: how many wrong credentials each address has shown lately. In memory, of so many addresses at most.
import type { Clock } from '../../ports/clock.ts';

export interface FailureLimit {
  readonly most: number;
  readonly withinMs: number;
}

interface Window {
  failures: number;
  readonly endsAt: number;
}

const MOST_ADDRESSES = 10_000;

export class FailureWindows {
  readonly #limit: FailureLimit;
  readonly #clock: Clock;
  /** In the order in which they began, and so end. */
  readonly #windows = new Map<string, Window>();

  constructor(limit: FailureLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  get size(): number {
    return this.#windows.size;
  }

  /** For how long nothing of this address is looked at; 0: it is. */
  waitMs(address: string): number {
    const window = this.#windows.get(address);
    if (window === undefined || window.failures < this.#limit.most) return 0;
    return Math.max(0, window.endsAt - this.#clock.now());
  }

  /** True: with this one it has shown as many as it may. */
  failed(address: string): boolean {
    const window = this.#current(address);
    window.failures += 1;
    return window.failures === this.#limit.most;
  }

  #current(address: string): Window {
    const now = this.#clock.now();
    const window = this.#windows.get(address);
    if (window !== undefined && window.endsAt > now) return window;
    this.#windows.delete(address);
    this.#makeRoom(now);
    const begun = { failures: 0, endsAt: now + this.#limit.withinMs };
    this.#windows.set(address, begun);
    return begun;
  }

  #makeRoom(now: number): void {
    for (const [address, { endsAt }] of this.#windows) {
      if (endsAt > now && this.#windows.size < MOST_ADDRESSES) return;
      this.#windows.delete(address);
    }
  }
}
