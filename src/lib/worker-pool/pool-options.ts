// What a pool is told about its workers: how they start, run a task and end, and how many there may be.
import type { QueuedTask } from './task-queue.ts';

export interface PoolClock {
  now(): number;
  after(ms: number, task: () => void): () => void;
}

/** A process or thread that runs tasks, as its pool sees it. */
export interface PoolWorker {
  /** It is gone, or is being ended. */
  readonly ended: boolean;
  /** Tasks that run in it, those included that nobody waits for any more. */
  readonly running: number;
  /** Tasks that somebody waits for. */
  readonly awaited: number;
  /** False while it may be stuck and about to be ended: it is given no task. */
  readonly isSound: boolean;
  /** Something of the last owner's tasks may still run in it, or begin to: nobody else's task may be given to it. */
  readonly keepsOwner?: boolean;
  /** It is not known yet whether it keeps its owner: others wait for that, and so does its owner while others wait. */
  readonly isSettling?: boolean;
  /** It must run no further task, and ends when those in it are over. */
  readonly spoiled: boolean;
}

export interface PoolTask extends QueuedTask {
  /**
   * A worker runs tasks of one owner at a time: the tenant, or one of its users where those must be apart too.
   * Undefined, for what the gateway itself asks: meets anybody.
   */
  readonly owner: string | undefined;
  /** Nothing else runs in the worker meanwhile. */
  readonly exclusive: boolean;
}

/** Given to whoever starts a worker. */
export interface WorkerEvents<W> {
  readonly onEnd: (worker: W, reason: string) => void;
  /** Something in it is over: there may be capacity for another task. */
  readonly onCapacity: (worker: W) => void;
  /** Aborted when the pool closes. */
  readonly signal: AbortSignal;
}

export interface PoolSettings {
  /** Workers that one tenant may hold at one time, on each level; one more is kept for a tenant that holds none. */
  readonly workers: number;
  /** Tasks in flight in one worker, of those that are not exclusive. */
  readonly callsPerWorker: number;
  readonly maxCallsPerWorker: number;
  /** Tasks of one tenant that may wait while nobody else's do; of all tenants, twice as many. */
  readonly maxQueue: number;
}

export interface PoolFailures {
  queueFull(): Error;
  cannotStart(retryAfterMs: number, cause: unknown): Error;
  closed(): Error;
}

export interface PoolReporter {
  /** Workers that are ready: one more, or one fewer. */
  count(change: 1 | -1): void;
  /** A worker ended, or was told to, and is replaced. */
  replaced(reason: string): void;
  startFailed(error: unknown): void;
}

export interface PoolOptions<W extends PoolWorker, T extends PoolTask, R> {
  readonly settings: PoolSettings;
  readonly clock: PoolClock;
  readonly failures: PoolFailures;
  readonly reporter: PoolReporter;
  start(events: WorkerEvents<W>): Promise<W>;
  /** Rejects with NotStarted when the worker ended before it began. */
  run(worker: W, task: T): Promise<R>;
  /** Ends a worker in good order; settles when it is gone. */
  close(worker: W): Promise<void>;
  /** Workers that are kept ready although nobody asks. */
  readyWorkers(): number;
  /** Workers serve one owner for all their life, and are replaced for the next. */
  readonly oneOwner: boolean;
  /** Whether a worker is old or large enough to be replaced by a fresh one. */
  isWorn?(worker: W): boolean;
  /** Whenever a worker has capacity: what it owes besides tasks. */
  maintain?(worker: W): void;
  /** False: no worker is started now, whoever waits. */
  mayStart?(): boolean;
}

/** The worker ended before it began the task: another one may run it, as if nothing had been. */
export class NotStarted extends Error {
  constructor() {
    super('the worker ended before it began the task');
    this.name = 'NotStarted';
  }
}
