// TaskQueue: tasks that wait for room in a worker, first come, first served. An aborted task leaves by itself.
import type { ToolFailure } from '../../contract/tool-failure.ts';
import type { Answer } from './answer.ts';
import type { CallListener } from './pending-call.ts';
import type { WorkerRequest } from './python-worker.ts';

/** One request to any worker. */
export interface Task {
  readonly request: WorkerRequest;
  readonly listener: CallListener;
  readonly signal: AbortSignal;
  /** Epoch milliseconds; the worker ends the call then, whatever the gateway does. */
  readonly deadline: number;
  /** Nothing else runs in the worker meanwhile, and an abort ends the worker: its code cannot be stopped from inside. */
  readonly exclusive: boolean;
  /** Calls of two tenants never meet in one worker. Undefined: meets anybody. */
  readonly tenant?: string;
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

  /** Hands the longest-waiting task to `serve`, which may find that it must wait on. False if it did, or none waits. */
  serveNext(serve: (task: Task) => Promise<Answer> | undefined): boolean {
    const [next] = this.#waiting;
    const outcome = next && serve(next.task);
    if (outcome === undefined) return false;
    next?.leave(outcome);
    return true;
  }

  refuseAll(failure: ToolFailure): void {
    for (const waiting of this.#waiting) waiting.leave(Promise.reject(failure));
  }
}
