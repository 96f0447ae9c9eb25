// TaskQueue: calls that wait for a worker thread, level by level, so that what a call waits for never waits behind it.
import type { Answer, CallListener } from './pending-call.ts';

export interface Task {
  readonly request: { readonly url: string; readonly name: string; readonly body: string };
  readonly listener: CallListener;
  readonly signal: AbortSignal;
  readonly concurrent: boolean;
  /** 0 came through a door; a step of it is 1, a step of that 2 … */
  readonly level: number;
}

interface WaitingTask {
  readonly task: Task;
  leave(outcome: Promise<Answer>): void;
}

export class TaskQueue {
  readonly #levels = new Map<number, Set<WaitingTask>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  waitingAt(level: number): number {
    return this.#levels.get(level)?.size ?? 0;
  }

  get levels(): readonly number[] {
    return [...this.#levels.keys()];
  }

  /** Settles as `serve` says, or rejects with the signal's reason as soon as it aborts. */
  add(task: Task): Promise<Answer> {
    const { signal, level } = task;
    let waitingHere = this.#levels.get(level);
    if (waitingHere === undefined) this.#levels.set(level, (waitingHere = new Set()));
    const here = waitingHere;
    return new Promise((resolve) => {
      const onAbort = () => waiting.leave(Promise.reject(signal.reason as Error));
      const waiting: WaitingTask = {
        task,
        leave: (outcome) => {
          if (here.delete(waiting)) this.#size -= 1;
          signal.removeEventListener('abort', onAbort);
          resolve(outcome);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      here.add(waiting);
      this.#size += 1;
    });
  }

  /** Offers the longest-waiting tasks of each level until `serve` has no room for them. */
  serve(serve: (task: Task) => Promise<Answer> | undefined): void {
    for (const waitingHere of this.#levels.values()) {
      for (const waiting of waitingHere) {
        const outcome = serve(waiting.task);
        if (outcome === undefined) break;
        waiting.leave(outcome);
      }
    }
  }

  refuseAll(failure: Error): void {
    for (const waitingHere of this.#levels.values()) {
      for (const waiting of waitingHere) waiting.leave(Promise.reject(failure));
    }
  }
}
