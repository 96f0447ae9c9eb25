// ByteBudget: how much of a bounded buffer is taken, and those who wait until they fit.
import type { Clock } from '../../ports/clock.ts';

const MAX_WAIT_MS = 1_000;

export class ByteBudget {
  readonly max: number;
  readonly #clock: Clock;
  #taken = 0;
  #waiters: (() => void)[] = [];

  constructor(max: number, clock: Clock) {
    this.max = max;
    this.#clock = clock;
  }

  /** Whether so many bytes fit below a part of the whole. */
  fits(bytes: number, part = 1): boolean {
    return this.#taken + bytes <= this.max * part;
  }

  take(bytes: number): void {
    this.#taken += bytes;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
  }

  /** Lets those who wait look again. */
  notify(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** False: there was not enough capacity in time, or `isDown` says that there will be none. */
  async wait(bytes: number, part: number, isDown: () => boolean): Promise<boolean> {
    const giveUpAt = this.#clock.now() + MAX_WAIT_MS;
    while (!this.fits(bytes, part)) {
      const leftMs = giveUpAt - this.#clock.now();
      if (leftMs <= 0 || isDown()) return false;
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(leftMs, resolve);
        this.#waiters.push(() => {
          cancel();
          resolve();
        });
      });
    }
    return true;
  }
}
