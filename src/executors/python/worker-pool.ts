// WorkerPool: keeps the workers of one set of folders alive and hands them calls, first come, first served.
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Counter, Gauge, Labelled } from '../../ports/metrics.ts';
import type { Answer } from './answer.ts';
import type { EndReason, PythonWorker } from './python-worker.ts';
import type { PythonSettings } from './settings.ts';
import { StartCircuit } from './start-circuit.ts';
import { ignoreLines, type WorkerStarter } from './worker-starter.ts';
import { TaskQueue, type Task } from './task-queue.ts';

export interface PoolNeeds {
  readonly starter: WorkerStarter;
  readonly clock: Clock;
  readonly log: Log;
  readonly workers: Gauge;
  readonly restarts: Labelled<Counter>;
  readonly settings: Pick<PythonSettings, 'workers' | 'maxCallsPerWorker' | 'maxQueue'>;
}

const QUEUE_FULL_RETRY_MS = 500;
const CLOSE_GRACE_MS = 1000;

export class WorkerPool {
  readonly #needs: PoolNeeds;
  readonly #circuit: StartCircuit;
  /** Every worker that became ready and has not ended. */
  readonly #ready = new Set<PythonWorker>();
  readonly #idle: PythonWorker[] = [];
  /** Ready, but at their last calls: they serve until a replacement is there … */
  readonly #retiring = new Set<PythonWorker>();
  /** … and then leave as soon as they are free. */
  readonly #leaving = new Set<PythonWorker>();
  readonly #queue = new TaskQueue();
  /** Checks of functions in use that a worker has still to run, so that no call pays for an import. */
  readonly #warmUps = new Map<PythonWorker, string[]>();
  readonly #inUse = new Map<string, number>();
  readonly #boots = new Set<Promise<void>>();
  #cancelRetry: (() => void) | undefined;
  #lastStartFailure: unknown;
  /** Aborted when the pool closes. */
  readonly #closing = new AbortController();

  constructor(needs: PoolNeeds) {
    this.#needs = needs;
    this.#circuit = new StartCircuit(needs.clock);
  }

  /** Rejects with ToolFailure, or with the signal's reason as soon as it aborts. */
  run(task: Task): Promise<Answer> {
    if (task.signal.aborted) return Promise.reject(task.signal.reason as Error);
    const worker = this.#idle.pop();
    return worker === undefined ? this.#enqueue(task) : this.#serve(worker, task);
  }

  /** Has every worker, now and later, import what this `check` request names. */
  keepWarm(members: string): void {
    const users = this.#inUse.get(members) ?? 0;
    this.#inUse.set(members, users + 1);
    if (users > 0) return;
    for (const worker of this.#ready) {
      this.#warmUps.set(worker, [...(this.#warmUps.get(worker) ?? []), members]);
      if (this.#takeIdle(worker)) this.#next(worker);
    }
  }

  forget(members: string): void {
    const users = (this.#inUse.get(members) ?? 0) - 1;
    if (users > 0) this.#inUse.set(members, users);
    else this.#inUse.delete(members);
  }

  /** Lets calls that run finish within a second, then ends every worker. */
  async close(): Promise<void> {
    this.#closing.abort(closedFailure());
    this.#idle.length = 0;
    this.#cancelRetry?.();
    this.#queue.refuseAll(closedFailure());
    await Promise.all([...this.#ready].map((worker) => worker.close(this.#needs.clock, CLOSE_GRACE_MS)));
    await Promise.all(this.#boots);
  }

  async #serve(worker: PythonWorker, { members, signal, onLine }: Task): Promise<Answer> {
    // Python code cannot be stopped from inside: the process goes, and the caller has its answer at once.
    const onAbort = () => worker.kill('aborted', signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    worker.calls += 1;
    try {
      return await worker.request(members, onLine);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#next(worker);
    }
  }

  #enqueue(task: Task): Promise<Answer> {
    this.#fill();
    const refusal = this.#refusal();
    return refusal === undefined ? this.#queue.add(task) : Promise.reject(refusal);
  }

  #refusal(): ToolFailure | undefined {
    if (this.#closing.signal.aborted) return closedFailure();
    const pauseMs = this.#circuit.pauseMs();
    if (pauseMs > 0 && this.#ready.size === 0) return this.#startFailure(pauseMs);
    if (this.#queue.size < this.#needs.settings.maxQueue) return undefined;
    return new ToolFailure('UNAVAILABLE', 'Too many calls are waiting for a Python worker.', {
      reason: 'QUEUE_FULL',
      retryable: true,
      retryAfterMs: QUEUE_FULL_RETRY_MS,
      partialSideEffects: false,
    });
  }

  /** What a worker does next: an import it still owes, the longest-waiting call, its leave, or nothing. */
  #next(worker: PythonWorker): void {
    if (worker.ended || this.#closing.signal.aborted) return;
    const { maxCallsPerWorker } = this.#needs.settings;
    if (worker.calls >= maxCallsPerWorker && !this.#retiring.has(worker)) {
      this.#retiring.add(worker);
      this.#fill();
    }
    const warmUp = this.#warmUps.get(worker)?.shift();
    if (warmUp !== undefined) {
      void this.#needs.starter
        .ask(worker, warmUp, ignoreLines)
        .catch(() => undefined)
        .then(() => this.#next(worker));
      return;
    }
    if (this.#leaving.has(worker)) {
      void worker.close(this.#needs.clock, CLOSE_GRACE_MS);
      return;
    }
    if (!this.#queue.serveNext((task) => this.#serve(worker, task))) this.#idle.push(worker);
  }

  /** Starts workers until there are as many as wanted, unless they keep dying at the start. */
  #fill(): void {
    if (this.#closing.signal.aborted) return;
    const pauseMs = this.#circuit.pauseMs();
    if (pauseMs > 0) return this.#pause(pauseMs);
    const wanted = this.#needs.settings.workers;
    while (this.#ready.size - this.#retiring.size + this.#boots.size < wanted) {
      const boot: Promise<void> = this.#boot().finally(() => {
        this.#boots.delete(boot);
        this.#fill();
      });
      this.#boots.add(boot);
    }
  }

  #pause(pauseMs: number): void {
    if (this.#ready.size === 0 && this.#boots.size === 0) this.#queue.refuseAll(this.#startFailure(pauseMs));
    this.#cancelRetry ??= this.#needs.clock.after(pauseMs, () => {
      this.#cancelRetry = undefined;
      this.#fill();
    });
  }

  async #boot(): Promise<void> {
    const { starter, restarts, log } = this.#needs;
    try {
      const worker = await starter.start(
        () => [...this.#inUse.keys()],
        (ended, reason) => this.#onEnd(ended, reason),
        this.#closing.signal,
      );
      this.#circuit.becameReady();
      this.#welcome(worker);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#lastStartFailure = error;
      this.#circuit.died();
      restarts.with('python', 'start_failed').add();
      log.warn({ executor: 'python', err: error }, 'a Python worker could not be started');
    }
  }

  #welcome(worker: PythonWorker): void {
    this.#ready.add(worker);
    this.#needs.workers.add(1);
    const replaced = [...this.#retiring].find((old) => !this.#leaving.has(old));
    if (replaced !== undefined) {
      this.#leaving.add(replaced);
      this.#needs.restarts.with('python', 'recycled').add();
      if (this.#takeIdle(replaced)) this.#next(replaced);
    }
    this.#next(worker);
  }

  #onEnd(worker: PythonWorker, reason: EndReason): void {
    if (!this.#ready.delete(worker)) return;
    this.#needs.workers.add(-1);
    this.#takeIdle(worker);
    this.#retiring.delete(worker);
    this.#leaving.delete(worker);
    this.#warmUps.delete(worker);
    if (reason !== 'closed') {
      this.#needs.restarts.with('python', reason).add();
      this.#needs.log.warn(
        { executor: 'python', reason, pid: worker.pid },
        'a Python worker ended and is replaced',
      );
    }
    this.#fill();
  }

  #takeIdle(worker: PythonWorker): boolean {
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
    return index >= 0;
  }

  #startFailure(retryAfterMs: number): ToolFailure {
    return new ToolFailure('UNAVAILABLE', 'No Python worker can be started at the moment.', {
      reason: 'WORKER_START_FAILED',
      retryAfterMs,
      partialSideEffects: false,
      cause: this.#lastStartFailure,
    });
  }
}

function closedFailure(): ToolFailure {
  return new ToolFailure('UNAVAILABLE', 'The Python executor is closed.', {
    reason: 'EXECUTOR_CLOSED',
    partialSideEffects: false,
  });
}
