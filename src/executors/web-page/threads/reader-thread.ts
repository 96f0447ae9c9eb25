// ReaderThread: one thread that reads pages, as its pool sees it. It reads one at a time, and is gone after one that was too much.
import { BoundedThread, type After, type ThreadProgram } from '../../../lib/concurrency/bounded-thread.ts';
import type { PoolWorker, WorkerEvents } from '../../../lib/worker-pool/pool-options.ts';
import type { ReaderAnswer, ReaderTask } from '../reader/messages.ts';

export interface ReaderLimits {
  readonly maxMemoryMb: number;
  readonly maxWorkMs: number;
}

const START_MS = 30_000;
/** Beside this file, in src as in dist. */
const FILE = new URL(`../reader/thread${import.meta.url.slice(-3)}`, import.meta.url);

export class ReaderThread implements PoolWorker {
  readonly isSound = true;
  readonly spoiled = false;
  readonly #thread: BoundedThread<ReaderTask, ReaderAnswer>;
  readonly #events: WorkerEvents<ReaderThread>;
  readonly #maxWorkMs: number;
  #running = 0;
  #awaited = 0;
  #closed = false;

  private constructor(
    thread: BoundedThread<ReaderTask, ReaderAnswer>,
    events: WorkerEvents<ReaderThread>,
    maxWorkMs: number,
  ) {
    this.#thread = thread;
    this.#events = events;
    this.#maxWorkMs = maxWorkMs;
  }

  static async start(
    { maxMemoryMb, maxWorkMs }: ReaderLimits,
    after: After,
    events: WorkerEvents<ReaderThread>,
  ): Promise<ReaderThread> {
    const program: ThreadProgram = {
      file: FILE,
      memory: { maxOldGenerationSizeMb: maxMemoryMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 8 },
    };
    const thread = await BoundedThread.start<ReaderTask, ReaderAnswer>(program, after, START_MS);
    return new ReaderThread(thread, events, maxWorkMs);
  }

  get ended(): boolean {
    return this.#closed || this.#thread.isDead;
  }

  get running(): number {
    return this.#running;
  }

  get awaited(): number {
    return this.#awaited;
  }

  /**
   * Rejects with BoundedThreadError, or with the signal's reason as soon as it aborts: what nobody waits for any more goes on to
   * its end, which is near.
   */
  run(task: ReaderTask, signal: AbortSignal): Promise<ReaderAnswer> {
    this.#running = 1;
    this.#awaited = 1;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#awaited = 0;
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#thread
        .run(task, this.#maxWorkMs)
        .then(resolve, (error: unknown) => {
          reject(error instanceof Error ? error : new Error(String(error)));
        })
        .finally(() => {
          signal.removeEventListener('abort', onAbort);
          this.#over();
        });
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#thread.end();
    this.#events.onEnd(this, 'closed');
  }

  #over(): void {
    this.#running = 0;
    this.#awaited = 0;
    if (this.#closed) return;
    if (this.#thread.isDead) this.#events.onEnd(this, 'died');
    else this.#events.onCapacity(this);
  }
}
