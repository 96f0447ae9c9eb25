// WaitingLine: so many at one time, the others in order of their coming, none longer than its call.
import { ToolFailure } from '../../contract/tool-failure.ts';

export class WaitingLine {
  readonly #maxWaiting: number;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(places: number, maxWaiting: number) {
    this.#free = places;
    this.#maxWaiting = maxWaiting;
  }

  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#place(signal);
    try {
      return await task();
    } finally {
      this.#leave();
    }
  }

  async #place(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    if (this.#waiting.size >= this.#maxWaiting) {
      throw new ToolFailure('CONCURRENCY_LIMIT', 'Too many commands wait to be run.', {
        reason: 'QUEUE_FULL',
        retryAfterMs: 1000,
        partialSideEffects: false,
      });
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(enter);
        reject(signal.reason as Error);
      };
      this.#waiting.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
