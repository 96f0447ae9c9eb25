// MemoryWatch: looks at the memory of busy worker threads, many times a second while there are any.
import type { Clock } from '../../ports/clock.ts';
import type { HandlerWorker } from './handler-worker.ts';

const INTERVAL_MS = 20;

export class MemoryWatch {
  readonly #clock: Clock;
  readonly #busy: () => readonly HandlerWorker[];
  #armed = false;

  constructor(clock: Clock, busy: () => readonly HandlerWorker[]) {
    this.#clock = clock;
    this.#busy = busy;
  }

  /** Something has begun to run. */
  wake(): void {
    if (this.#armed) return;
    this.#armed = true;
    this.#clock.after(INTERVAL_MS, () => {
      this.#armed = false;
      const busy = this.#busy();
      for (const worker of busy) void worker.checkMemory();
      if (busy.length > 0) this.wake();
    });
  }
}
