// StoringThread: stores lines of the journal from a thread of its own, on a connection of its own. One piece at a time.
import { Worker } from 'node:worker_threads';
import type { WriterSettings } from '../../postgres/roles/writer-settings.ts';

const PROGRAM = new URL(`storing-program${import.meta.url.slice(-3)}`, import.meta.url);
/** Lines are bounded, and so is a piece of them: nothing of it gets near. One piece fills the part for short-lived objects once. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 48 };

/** More than a piece has while the disk is as fast as the calls. */
const MOST_KEPT_BYTES = 4 << 20;

/** What the thread is started with: copied there. */
export interface StoringWork {
  readonly settings: WriterSettings;
  /** Whose calls they are. */
  readonly gateway: string;
}

export interface StoringTask {
  readonly memory: SharedArrayBuffer;
  /** Of the memory, from its start. */
  readonly bytes: number;
  readonly fresh: boolean;
}

/** Without an error: the lines are committed. `ready` is the first thing that it says. */
export type StoringAnswer =
  | { readonly kind: 'ready' | 'stored' }
  | {
      readonly kind: 'failed';
      readonly isNoRecord: boolean;
      readonly message: string;
      readonly code: unknown;
    };

type Waiting = PromiseWithResolvers<StoringAnswer>;

export class StoringThread {
  readonly #worker: Worker;
  #waiting: Waiting | undefined;
  /** Of the piece before, to be written over: with new memory for each, V8 searches the whole heap of the thread several times a second. */
  #memory = new SharedArrayBuffer(0);
  #ended: Error | undefined;

  private constructor(work: StoringWork) {
    this.#worker = new Worker(PROGRAM, { workerData: work, resourceLimits: MEMORY });
    this.#worker.on('message', (answer: StoringAnswer) => this.#waiting?.resolve(answer));
    this.#worker.on('error', (error: Error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('the thread that stores audit records has ended')));
    this.#worker.unref();
  }

  /** Rejects where it cannot be started. */
  static async start(work: StoringWork): Promise<StoringThread> {
    const thread = new StoringThread(work);
    await thread.#answer();
    return thread;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** As AuditTable.store; not to be called while it runs. */
  async store(lines: Uint8Array, fresh: boolean): Promise<void> {
    const bytes = lines.length;
    const memory = this.#memoryFor(bytes);
    new Uint8Array(memory).set(lines);
    const task: StoringTask = { memory, bytes, fresh };
    const answered = this.#answer();
    this.#worker.postMessage(task);
    const answer = await answered;
    if (answer.kind === 'failed') throw errorOf(answer);
  }

  #memoryFor(bytes: number): SharedArrayBuffer {
    if (bytes > MOST_KEPT_BYTES) return new SharedArrayBuffer(bytes);
    if (bytes > this.#memory.byteLength)
      this.#memory = new SharedArrayBuffer(Math.min(2 * bytes, MOST_KEPT_BYTES));
    return this.#memory;
  }

  /** What it stores at that moment may be committed or not. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #answer(): Promise<StoringAnswer> {
    if (this.#ended !== undefined) throw this.#ended;
    const waiting: Waiting = Promise.withResolvers();
    this.#waiting = waiting;
    // Somebody waits for it: a process with nothing else to do must not end now.
    this.#worker.ref();
    try {
      return await waiting.promise;
    } finally {
      this.#waiting = undefined;
      this.#worker.unref();
    }
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#waiting?.reject(this.#ended);
  }
}

/** Such that what is no record, and what the database says by a code, is told apart as in this thread. */
function errorOf({ isNoRecord, message, code }: Extract<StoringAnswer, { kind: 'failed' }>): Error {
  const error = isNoRecord ? new SyntaxError(message) : new Error(message);
  return code === undefined ? error : Object.assign(error, { code });
}
