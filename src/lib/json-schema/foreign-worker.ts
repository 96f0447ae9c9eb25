// ForeignWorker: one thread that checks schemas of others, with the memory it may have. One task at a time; it dies of a bad one.
import { Worker } from 'node:worker_threads';
import type { ForeignAnswer, ForeignTask } from './foreign-thread.ts';

/** Beside this file, in src as in dist. */
const THREAD = new URL(`foreign-thread${import.meta.url.slice(-3)}`, import.meta.url);
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

export type After = (ms: number, task: () => void) => () => void;

/** The thread took too much time or memory, or broke; it is gone. */
export class ForeignThreadError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ForeignThreadError';
  }
}

interface Waiting {
  readonly take: (answer: ForeignAnswer) => void;
  readonly fail: (error: ForeignThreadError) => void;
}

export class ForeignWorker {
  readonly #worker: Worker;
  readonly #after: After;
  #waiting: Waiting | undefined;
  #dead: ForeignThreadError | undefined;

  private constructor(after: After) {
    this.#after = after;
    // Nothing of the gateway's environment is any business of a schema.
    this.#worker = new Worker(THREAD, { resourceLimits: MEMORY, env: {} });
    this.#worker.on('message', (answer: ForeignAnswer) => this.#waiting?.take(answer));
    this.#worker.on('error', (error: Error) => this.#end(`it ended: ${error.message}`));
    this.#worker.on('exit', () => this.#end('it ended'));
  }

  /** Starting is not the task's time: modules are loaded, nothing foreign is looked at. */
  static async start(after: After, withinMs: number): Promise<ForeignWorker> {
    const worker = new ForeignWorker(after);
    await worker.#answer(withinMs, 'it did not start');
    return worker;
  }

  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  /** Rejects with ForeignThreadError; the worker is dead then. Not to be called while a task runs. */
  run(task: ForeignTask, withinMs: number): Promise<ForeignAnswer> {
    const answer = this.#answer(withinMs, 'it was not done');
    this.#worker.postMessage(task);
    return answer;
  }

  async end(): Promise<void> {
    this.#end('it was ended');
    await this.#worker.terminate();
  }

  #answer(withinMs: number, what: string): Promise<ForeignAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ForeignAnswer>();
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    // Someone waits for it: a process with nothing else to do must not end now.
    this.#worker.ref();
    const disarm = this.#after(withinMs, () => this.#end(`${what} within ${withinMs} ms`));
    const settle = (act: () => void) => {
      disarm();
      this.#worker.unref();
      this.#waiting = undefined;
      act();
    };
    this.#waiting = {
      take: (answer) => settle(() => resolve(answer)),
      fail: (error) => settle(() => reject(error)),
    };
    return promise;
  }

  #end(why: string): void {
    if (this.#dead !== undefined) return;
    this.#dead = new ForeignThreadError(`The check was given up: ${why}.`);
    this.#waiting?.fail(this.#dead);
    void this.#worker.terminate();
  }
}
