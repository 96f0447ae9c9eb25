// PythonPool: the workers of one kind, with the modules that its functions need imported ahead of their calls.
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Counter, Gauge, Labelled } from '../../../ports/telemetry/metrics.ts';
import type { PoolReporter, WorkerEvents } from '../../../lib/worker-pool/pool-options.ts';
import { WorkerPool } from '../../../lib/worker-pool/worker-pool.ts';
import type { Answer } from '../worker/answer.ts';
import { POOL_FAILURES } from './pool-failures.ts';
import type { PythonWorker } from '../worker/python-worker.ts';
import type { EndReason } from '../worker/worker-options.ts';
import type { PythonSettings } from '../settings.ts';
import type { Task } from '../worker/task.ts';
import { distinctWarmUps, type WarmUp, type WorkerStarter } from '../worker/worker-starter.ts';
import { WorkerMaintenance } from '../worker/worker-maintenance.ts';

export interface PoolNeeds {
  readonly starter: WorkerStarter;
  readonly clock: Clock;
  readonly log: Log;
  readonly workers: Gauge;
  readonly restarts: Labelled<Counter>;
  readonly settings: PythonSettings;
  /** Runs before a new worker gets calls. */
  readonly beforeWelcome: () => Promise<void>;
  /** Each worker runs the code of one user only. */
  readonly oneOwner: boolean;
}

const CLOSE_GRACE_MS = 1000;

export class PythonPool {
  readonly #needs: PoolNeeds;
  readonly #pool: WorkerPool<PythonWorker, Task, Answer>;
  /** What functions in use want checked, so that no call pays for an import. */
  readonly #inUse = new Set<WarmUp>();
  readonly #maintenance = new Map<PythonWorker, WorkerMaintenance>();

  constructor(needs: PoolNeeds) {
    const { settings, clock, oneOwner } = needs;
    this.#needs = needs;
    this.#pool = new WorkerPool<PythonWorker, Task, Answer>({
      settings,
      clock,
      oneOwner,
      failures: POOL_FAILURES,
      reporter: reporterOf(needs),
      start: (events) => this.#start(events),
      run: (worker, task) => this.#run(worker, task),
      close: (worker) => worker.close(CLOSE_GRACE_MS),
      readyWorkers: () => settings.workers,
      isWorn: (worker) => this.#maintenance.get(worker)?.isWorn(clock.now(), settings) === true,
      maintain: (worker) => this.#maintenance.get(worker)?.run(),
    });
  }

  /** Rejects with ToolFailure, or with the signal's reason as soon as it aborts. */
  run(task: Task): Promise<Answer> {
    return this.#pool.run(task);
  }

  /** Has every worker, now and later, import what this check names. */
  keepWarm(warmUp: WarmUp): void {
    const isNew = ![...this.#inUse].some(({ head }) => head === warmUp.head);
    this.#inUse.add(warmUp);
    if (!isNew) return;
    for (const maintenance of this.#maintenance.values()) maintenance.owe(warmUp);
    this.#pool.tend();
  }

  forget(warmUp: WarmUp): void {
    this.#inUse.delete(warmUp);
  }

  /** Replaces every worker by one that imports everything anew; the old ones serve until it is there. */
  renew(): void {
    this.#pool.renew();
  }

  /** Lets calls that run finish within a second, then ends every worker. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  async #start({ onEnd, onCapacity, signal }: WorkerEvents<PythonWorker>): Promise<PythonWorker> {
    const { starter, clock, beforeWelcome, log } = this.#needs;
    const worker = await starter.start({
      onEnd: (ended: PythonWorker, reason: EndReason) => {
        if (this.#maintenance.delete(ended) && reason !== 'closed')
          log.warn(
            { executor: 'python', reason, pid: ended.pid },
            'a Python worker ended: another one replaces it',
          );
        onEnd(ended, reason);
      },
      onCapacity,
      warmUps: () => distinctWarmUps(this.#inUse),
      signal,
    });
    await beforeWelcome();
    if (!worker.ended) this.#maintenance.set(worker, new WorkerMaintenance(starter, worker, clock.now()));
    return worker;
  }

  async #run(worker: PythonWorker, task: Task): Promise<Answer> {
    const { request, listener, signal, deadline, exclusive } = task;
    this.#maintenance.get(worker)?.countCall();
    const limitMs = Number.isFinite(deadline)
      ? Math.max(1, Math.ceil(deadline - this.#needs.clock.now()))
      : null;
    const limited = { ...request, head: `${request.head},"limit_ms":${limitMs}` };
    if (!exclusive) return worker.request(limited, listener, signal);
    // Python code cannot be stopped from inside: the process goes, and the caller has its answer at once.
    const onAbort = () => worker.kill('aborted', signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await worker.request(limited, listener);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

function reporterOf({ workers, restarts, log }: PoolNeeds): PoolReporter {
  return {
    count: (change) => workers.add(change),
    replaced: (reason) => restarts.with('python', reason).add(),
    startFailed: (error) => {
      restarts.with('python', 'start_failed').add();
      log.warn(
        { executor: 'python', err: error },
        'a Python worker could not be started: calls of Python tools may wait or be refused',
      );
    },
  };
}
