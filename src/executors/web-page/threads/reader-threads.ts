// ReaderThreads: the threads that read pages, shared fairly between tenants.
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { BoundedThreadError } from '../../../lib/concurrency/bounded-thread.ts';
import type { PoolFailures, PoolReporter, PoolTask } from '../../../lib/worker-pool/pool-options.ts';
import { WorkerPool } from '../../../lib/worker-pool/worker-pool.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Metrics } from '../../../ports/telemetry/metrics.ts';
import { workerSeries } from '../../../ports/telemetry/worker-series.ts';
import { tooComplex } from '../page-failures.ts';
import type { ReaderAnswer, ReaderTask } from '../reader/messages.ts';
import type { PageSettings } from '../settings.ts';
import { ReaderThread } from './reader-thread.ts';

export interface ReaderNeeds {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly settings: PageSettings;
}

/** For whom something is read, and until when. */
export interface ReaderCall {
  readonly tenant: string;
  readonly level: number;
  readonly signal: AbortSignal;
}

interface Task extends PoolTask {
  readonly request: ReaderTask;
}

const RETRY_MS = 500;
/** What pages leave behind in a thread ends with it. */
const MOST_PAGES = 500;

const FAILURES: PoolFailures = {
  queueFull: () =>
    toolFailure('QUEUE_FULL', 'Too many pages are waiting to be read.', {
      retryAfterMs: RETRY_MS,
      partialSideEffects: false,
    }),
  closed: () =>
    toolFailure('EXECUTOR_CLOSED', 'The executor is being closed.', { partialSideEffects: false }),
  cannotStart: (retryAfterMs, cause) =>
    new ToolFailure('UNAVAILABLE', 'No thread that reads pages can be started at the moment.', {
      reason: 'WORKER_START_FAILED',
      partialSideEffects: false,
      retryAfterMs,
      cause,
    }),
};

export class ReaderThreads {
  readonly #pool: WorkerPool<ReaderThread, Task, ReaderAnswer>;
  #used = false;

  constructor(needs: ReaderNeeds) {
    const { clock, settings } = needs;
    const { workers, maxQueue, maxMemoryMb, maxWorkMs } = settings;
    this.#pool = new WorkerPool<ReaderThread, Task, ReaderAnswer>({
      settings: { workers, maxQueue, callsPerWorker: 1, maxCallsPerWorker: MOST_PAGES },
      clock,
      oneOwner: false,
      failures: FAILURES,
      reporter: reporterOf(needs),
      start: (events) =>
        ReaderThread.start({ maxMemoryMb, maxWorkMs }, (ms, task) => clock.after(ms, task), events),
      run: (thread, { request, signal }) => thread.run(request, signal),
      close: (thread) => thread.close(),
      // One stays once there was something to read: to start one takes longer than to read a page.
      readyWorkers: () => (this.#used ? 1 : 0),
    });
  }

  /** Rejects with ToolFailure, or with the signal's reason as soon as it aborts. */
  async read(request: ReaderTask, { tenant, level, signal }: ReaderCall): Promise<ReaderAnswer> {
    this.#used = true;
    try {
      return await this.#pool.run({ request, tenant, owner: tenant, level, signal, exclusive: true });
    } catch (error) {
      throw error instanceof BoundedThreadError ? failureOf(error) : error;
    }
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

function failureOf(error: BoundedThreadError): ToolFailure {
  if (error.why === 'failed') return tooComplex(error);
  const message = 'The machine has too much to do to read a page.';
  return toolFailure('OVERLOADED', message, {
    retryAfterMs: RETRY_MS,
    partialSideEffects: false,
    cause: error,
  });
}

function reporterOf({ metrics, log }: ReaderNeeds): PoolReporter {
  const { workers, restarts } = workerSeries(metrics, 'web-page');
  return {
    count: (change) => workers.add(change),
    replaced: (reason) => {
      restarts.with('web-page', reason).add();
      const level = reason === 'recycled' ? 'info' : 'warn';
      log[level]({ executor: 'web-page', reason }, 'a thread that reads pages ended and is replaced');
    },
    startFailed: (error) => {
      restarts.with('web-page', 'start_failed').add();
      log.warn(
        { executor: 'web-page', err: error },
        'a thread that reads pages could not be started: pages may wait or be refused',
      );
    },
  };
}
