// PoolLeases: one worker pool per kind of worker, kept for as long as some function uses it.
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import type { JsonValue } from '../../../contract/json.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { within } from '../../../lib/timers/within.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Metrics } from '../../../ports/telemetry/metrics.ts';
import { workerSeries, type WorkerSeries } from '../../../ports/telemetry/worker-series.ts';
import type { ProcessSpawner } from '../../../ports/egress/process-spawner.ts';
import type { Answer } from '../worker/answer.ts';
import { LeasedFunction, type Accept } from './leased-function.ts';
import { ModuleWatch } from './module-watch.ts';
import type { SandboxChoice } from '../sandbox-choice.ts';
import type { PythonSettings } from '../settings.ts';
import { PythonPool } from './python-pool.ts';
import type { Task } from '../worker/task.ts';
import type { WorkerKind } from './worker-kind.ts';
import { ignoreLines, WorkerStarter } from '../worker/worker-starter.ts';

interface LeaseNeeds {
  readonly spawner: ProcessSpawner;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly settings: PythonSettings;
  readonly sandbox: SandboxChoice;
}

/** A function that was found, and the pool that runs it. */
export interface PoolLease {
  run(task: Task): Promise<Answer>;
  /** Of the code that calls run from now on. */
  contentHash(): Promise<string>;
  release(): Promise<void>;
}

interface SharedPool {
  readonly pool: PythonPool;
  readonly watch: ModuleWatch;
  readonly functions: Set<LeasedFunction>;
  users: number;
  /** A file changed and the operator wants that to be refused. */
  changed: boolean;
}

export class PoolLeases {
  readonly #needs: LeaseNeeds;
  readonly #workerFile: string;
  readonly #pools = new Map<string, SharedPool>();
  readonly #series: WorkerSeries;

  constructor(needs: LeaseNeeds, workerFile: string) {
    this.#needs = needs;
    this.#workerFile = workerFile;
    this.#series = workerSeries(needs.metrics, 'python');
  }

  /**
   * `check` is the head of the request whose answer shows that calls can be served, and `accept` judges that answer,
   * now and whenever the code has changed. Throws a sentence for the operator when they cannot be.
   */
  async take(kind: WorkerKind, check: string, accept: Accept): Promise<PoolLease> {
    const distinct = { ...kind, folders: [...new Set(kind.folders)] };
    const key = JSON.stringify(distinct);
    const shared = this.#current(key) ?? this.#open(key, distinct);
    shared.users += 1;
    const leave = once(() => this.#leave(key, shared));
    try {
      const fn = new LeasedFunction(check, accept, shared.watch);
      await fn.judge(await this.#check(shared.pool, check));
      shared.functions.add(fn);
      shared.pool.keepWarm(fn);
      const release = once(() => {
        shared.functions.delete(fn);
        shared.pool.forget(fn);
        return leave();
      });
      const run = (task: Task) => this.#run(shared, fn, task);
      return { run, release, contentHash: () => fn.contentHash() };
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

  #run(shared: SharedPool, fn: LeasedFunction, task: Task): Promise<Answer> {
    shared.watch.lookSometimes();
    const refusal = shared.changed ? changedFailure() : fn.refusal;
    return refusal === undefined ? shared.pool.run(task) : Promise.reject(refusal);
  }

  /** A pool whose files have changed is good for nothing new. */
  #current(key: string): SharedPool | undefined {
    const shared = this.#pools.get(key);
    return shared?.changed === true ? undefined : shared;
  }

  #open(key: string, kind: WorkerKind): SharedPool {
    const { clock, log, settings } = this.#needs;
    const starter = new WorkerStarter({ ...this.#needs, workerFile: this.#workerFile }, kind);
    const watch = new ModuleWatch(clock, (file, sha256) => this.#fileChanged(shared, file, sha256));
    const pool = new PythonPool({
      starter,
      clock,
      log,
      settings,
      ...this.#series,
      oneOwner: kind.runsCode,
      beforeWelcome: () => watch.look(),
    });
    const shared: SharedPool = { pool, watch, functions: new Set(), users: 0, changed: false };
    this.#pools.set(key, shared);
    return shared;
  }

  #fileChanged(shared: SharedPool, file: string, sha256: string): void {
    const refuse = this.#needs.settings.whenChanged === 'refuse';
    const what = refuse
      ? 'its tools refuse every call until they are loaded again'
      : 'it is checked and imported anew';
    this.#needs.log.warn({ executor: 'python', file, sha256 }, `a Python module changed: ${what}`);
    if (refuse) {
      shared.changed = true;
      return;
    }
    for (const fn of shared.functions) fn.mayHaveChanged();
    shared.pool.renew();
  }

  async #leave(key: string, shared: SharedPool): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) return;
    if (this.#pools.get(key) === shared) this.#pools.delete(key);
    await shared.pool.close();
  }

  async #check(pool: PythonPool, head: string): Promise<JsonValue> {
    const { clock, settings } = this.#needs;
    // Once for the interpreter and once for the module.
    const limitMs = 2 * settings.startTimeoutMs;
    const late = new Error(`importing the Python module did not finish within ${limitMs} ms.`);
    try {
      const answer = await within(clock, { ms: limitMs, late }, (signal) =>
        pool.run({
          request: { head },
          listener: ignoreLines,
          signal,
          deadline: Number.POSITIVE_INFINITY,
          exclusive: false,
          level: 0,
          tenant: undefined,
          owner: undefined,
        }),
      );
      if (!answer.ok) throw new Error(`${answer.error.message.slice(0, 500)}.`);
      return answer.data;
    } catch (error) {
      throw explained(error);
    }
  }
}

function changedFailure(): ToolFailure {
  const message =
    'The code of this Python tool has changed since it was loaded; an operator must load it again.';
  return new ToolFailure('UNAVAILABLE', message, {
    reason: 'TOOL_DEFINITION_CHANGED',
    retryable: false,
    partialSideEffects: false,
  });
}

function explained(error: unknown): unknown {
  if (!(error instanceof ToolFailure) || !isReason(error, 'WORKER_START_FAILED')) return error;
  const { cause } = error;
  const why = cause instanceof Error ? cause.message : error.message;
  const where = cause instanceof ToolFailure && isAboutSandbox(cause) ? 'run in the sandbox' : 'run';
  return new Error(`Python tools cannot ${where}: ${why}`, { cause: error });
}

function isAboutSandbox(failure: ToolFailure): boolean {
  if (isReason(failure, 'SANDBOX_UNAVAILABLE', 'SANDBOX_FAILED')) return true;
  return failure.cause instanceof ToolFailure && isAboutSandbox(failure.cause);
}

function once(task: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= task());
}
