// TaskQueue: tasks that wait for a free worker, first come, first served. A task that is aborted leaves by itself.
import type { ToolFailure } from '../../contract/tool-failure.ts';
import type { Answer } from './answer.ts';
import type { LineListener } from './worker-output.ts';

/** One request to any worker. */
export interface Task {
  /** JSON members of the request, without its id. */
  readonly members: string;
  readonly signal: AbortSignal;
  readonly onLine: LineListener;
}

interface WaitingTask {
  readonly task: Task;
  /** Out of the queue, with what happens next. */
  leave(outcome: Promise<Answer>): void;
}

export class TaskQueue {
  readonly #waiting = new Set<WaitingTask>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Settles as `serveNext` says, or rejects with the signal's reason. */
  add(task: Task): Promise<Answer> {
    const { signal } = task;
    return new Promise((resolve) => {
      const waiting: WaitingTask = {
        task,
        leave: (outcome) => {
          this.#waiting.delete(waiting);
          signal.removeEventListener('abort', onAbort);
          resolve(outcome);
        },
      };
      const onAbort = () => waiting.leave(Promise.reject(signal.reason as Error));
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiting);
    });
  }

  /** Hands the longest-waiting task to `serve`; false if none waits. */
  serveNext(serve: (task: Task) => Promise<Answer>): boolean {
    const [next] = this.#waiting;
    next?.leave(serve(next.task));
    return next !== undefined;
  }

  refuseAll(failure: ToolFailure): void {
    for (const waiting of this.#waiting) waiting.leave(Promise.reject(failure));
  }
}
