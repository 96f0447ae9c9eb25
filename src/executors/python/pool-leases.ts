// PoolLeases: one worker pool per list of folders, kept for as long as some function uses it.
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Counter, Gauge, Labelled, Metrics } from '../../ports/metrics.ts';
import type { ProcessSpawner } from '../../ports/process-spawner.ts';
import type { Answer } from './answer.ts';
import type { PythonSettings } from './settings.ts';
import { readSignature, type Signature } from './signature.ts';
import type { Task } from './task-queue.ts';
import { WorkerPool } from './worker-pool.ts';
import { ignoreLines, WorkerStarter } from './worker-starter.ts';

interface LeaseNeeds {
  readonly spawner: ProcessSpawner;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly settings: PythonSettings;
}

/** A function that was found, and the pool that runs it. */
export interface PoolLease {
  readonly signature: Signature;
  run(task: Task): Promise<Answer>;
  release(): Promise<void>;
}

interface SharedPool {
  readonly pool: WorkerPool;
  users: number;
}

export class PoolLeases {
  readonly #needs: LeaseNeeds;
  readonly #workerFile: string;
  readonly #pools = new Map<string, SharedPool>();
  readonly #workers: Gauge;
  readonly #restarts: Labelled<Counter>;

  constructor(needs: LeaseNeeds, workerFile: string) {
    this.#needs = needs;
    this.#workerFile = workerFile;
    this.#workers = needs.metrics
      .gauge({
        name: 'ute_executor_workers',
        help: 'Worker processes that are ready, by executor.',
        labels: ['executor'],
      })
      .with('python');
    this.#restarts = needs.metrics.counter({
      name: 'ute_executor_worker_restarts_total',
      help: 'Worker processes that ended and were replaced, by executor and reason.',
      labels: ['executor', 'reason'],
    });
  }

  /** `check` is the request that imports the function. Throws a sentence for the operator when it cannot be. */
  async take(folders: readonly string[], check: string): Promise<PoolLease> {
    const distinct = [...new Set(folders)];
    const key = JSON.stringify(distinct);
    const shared = this.#pools.get(key) ?? this.#open(key, distinct);
    shared.users += 1;
    const leave = once(() => this.#leave(key, shared));
    try {
      const signature = await this.#check(shared.pool, check);
      shared.pool.keepWarm(check);
      const release = once(() => {
        shared.pool.forget(check);
        return leave();
      });
      return { signature, run: (task) => shared.pool.run(task), release };
    } catch (error) {
      await leave();
      throw error;
    }
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(({ pool }) => pool.close()));
  }

  #open(key: string, folders: readonly string[]): SharedPool {
    const { spawner, clock, log, settings } = this.#needs;
    const starter = new WorkerStarter(spawner, clock, settings, this.#workerFile, folders);
    const pool = new WorkerPool({
      starter,
      clock,
      log,
      settings,
      workers: this.#workers,
      restarts: this.#restarts,
    });
    const shared = { pool, users: 0 };
    this.#pools.set(key, shared);
    return shared;
  }

  async #leave(key: string, shared: SharedPool): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0 || this.#pools.get(key) !== shared) return;
    this.#pools.delete(key);
    await shared.pool.close();
  }

  async #check(pool: WorkerPool, members: string): Promise<Signature> {
    const { clock, settings } = this.#needs;
    // Once for the interpreter and once for the module.
    const limitMs = 2 * settings.startTimeoutMs;
    const controller = new AbortController();
    const disarm = clock.after(limitMs, () =>
      controller.abort(new Error(`importing the Python module did not finish within ${limitMs} ms.`)),
    );
    try {
      const answer = await pool.run({ members, signal: controller.signal, onLine: ignoreLines });
      if (!answer.ok) throw new Error(`${answer.error.message.slice(0, 500)}.`);
      return readSignature(answer.data);
    } catch (error) {
      throw this.#explained(error);
    } finally {
      disarm();
    }
  }

  #explained(error: unknown): unknown {
    if (!(error instanceof ToolFailure) || error.reason !== 'WORKER_START_FAILED') return error;
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    const advice = 'Install Python 3.9 or newer, or set python.interpreter to one.';
    return new Error(`Python tools cannot run: ${why} ${advice}`, { cause: error });
  }
}

function once(task: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= task());
}
