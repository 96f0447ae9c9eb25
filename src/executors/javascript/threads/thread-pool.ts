// ThreadPool: the worker threads of the executor, each with the modules in use imported ahead of its first call.
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Counter, Gauge, Labelled } from '../../../ports/telemetry/metrics.ts';
import { settledWithin } from '../../../lib/timers/settled-within.ts';
import type { PoolFailures, PoolReporter, WorkerEvents } from '../../../lib/worker-pool/pool-options.ts';
import { WorkerPool } from '../../../lib/worker-pool/worker-pool.ts';
import { HandlerWorker, type WorkerOptions } from './handler-worker.ts';
import type { HandlerText } from './messages.ts';
import type { Answer } from './pending-call.ts';
import type { JavascriptSettings } from '../settings.ts';
import type { Task } from './task.ts';
import type { ThreadHosts } from './thread-hosts.ts';
import type { EndReason } from './thread-owner.ts';
import { executorClosed, notStarted, queueFull } from './worker-failures.ts';

export interface ThreadPoolNeeds {
  readonly settings: JavascriptSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly hosts: ThreadHosts;
  readonly workers: Gauge;
  readonly restarts: Labelled<Counter>;
  readonly onStray: WorkerOptions['onStray'];
}

const CLOSE_WITHIN_MS = 1_000;
const FAILURES: PoolFailures = {
  queueFull,
  closed: executorClosed,
  cannotStart: (retryAfterMs, cause) =>
    notStarted('No worker thread can be started at the moment.', { retryAfterMs, cause }),
};

export class ThreadPool {
  readonly #needs: ThreadPoolNeeds;
  readonly #pool: WorkerPool<HandlerWorker, Task, Answer>;
  /** Also those that are not ready yet. */
  readonly #threads = new Set<HandlerWorker>();
  /** Ended, but held back by native code. */
  readonly #ending = new Set<HandlerWorker>();
  readonly #modules = new Map<string, HandlerText>();

  constructor(needs: ThreadPoolNeeds) {
    const { settings, clock } = needs;
    this.#needs = needs;
    this.#pool = new WorkerPool<HandlerWorker, Task, Answer>({
      settings,
      clock,
      oneOwner: false,
      failures: FAILURES,
      reporter: reporterOf(needs),
      start: (events) => this.#start(events),
      run: (worker, { request, listener, signal }) =>
        worker.request({ kind: 'call', ...request }, listener, signal),
      close: (worker) => this.#end(worker),
      readyWorkers: () => (this.#modules.size > 0 ? 1 : 0),
      // Threads that cannot be ended use up memory: no more of them than of the others.
      mayStart: () => this.#ending.size < settings.workers,
    });
  }

  /** Every thread, now and later, imports the module ahead of its first call. */
  use(module: HandlerText): void {
    this.#modules.set(module.url, module);
    for (const thread of this.#threads) thread.load(module);
    this.#pool.tend();
  }

  forget(url: string): void {
    this.#modules.delete(url);
    this.#pool.tend();
  }

  /** Replaces every thread by one that imports everything anew, as soon as its calls are over. */
  renew(): void {
    for (const thread of this.#threads) thread.spoiled = true;
    this.#pool.tend();
  }

  /** Rejects with ToolFailure, or with the signal's reason as soon as it aborts. */
  run(task: Task): Promise<Answer> {
    return this.#pool.run(task);
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await this.#needs.hosts.close();
  }

  async #start(events: WorkerEvents<HandlerWorker>): Promise<HandlerWorker> {
    for (;;) {
      let endedBy: EndReason | undefined;
      const thread = new HandlerWorker({
        ...this.#needs,
        onCapacity: events.onCapacity,
        onEnd: (ended, reason) => {
          endedBy = reason;
          this.#ended(ended);
          events.onEnd(ended, reason);
        },
      });
      this.#threads.add(thread);
      for (const module of this.#modules.values()) thread.load(module);
      const onAbort = () => thread.kill('closed', executorClosed());
      events.signal.addEventListener('abort', onAbort, { once: true });
      try {
        await thread.ready;
        return thread;
      } catch (error) {
        // It went with its process: a call in another thread did that, and it says nothing about starting.
        if (endedBy !== 'host_died') throw error;
      } finally {
        events.signal.removeEventListener('abort', onAbort);
      }
    }
  }

  #ended(thread: HandlerWorker): void {
    this.#threads.delete(thread);
    this.#ending.add(thread);
    void thread.gone.then(() => {
      this.#ending.delete(thread);
      this.#pool.tend();
    });
  }

  /** Settles when it is gone, or would have to be waited for. */
  async #end(thread: HandlerWorker): Promise<void> {
    thread.kill('closed', executorClosed());
    await settledWithin(this.#needs.clock, CLOSE_WITHIN_MS, thread.gone);
  }
}

function reporterOf({ workers, restarts, log }: ThreadPoolNeeds): PoolReporter {
  return {
    count: (change) => workers.add(change),
    replaced: (reason) => {
      restarts.with('javascript', reason).add();
      const level = reason === 'recycled' ? 'info' : 'warn';
      log[level]({ executor: 'javascript', reason }, 'a JavaScript worker thread ended and is replaced');
    },
    startFailed: (error) => {
      restarts.with('javascript', 'start_failed').add();
      log.warn(
        { executor: 'javascript', err: error },
        'a JavaScript worker thread could not be started: calls of JavaScript tools may wait or be refused',
      );
    },
  };
}
