// ForeignWorker: one thread that checks schemas of others, with the memory it may have. One task at a time; it dies of a bad one.
import { Worker } from 'node:worker_threads';
import { cpuClockOf, type CpuClock } from './thread-cpu.ts';
import type { ForeignAnswer, ForeignTask } from './foreign-thread.ts';

/** Beside this file, in src as in dist. */
const THREAD = new URL(`foreign-thread${import.meta.url.slice(-3)}`, import.meta.url);
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

type End = (why: string, kind: 'busy' | 'failed') => void;

export type After = (ms: number, task: () => void) => () => void;

/**
 * The thread is gone. `failed`: it took too much time or memory, or broke, by what it was given. `busy`: it hardly ran at
 * all, which says nothing of the task.
 */
export class ForeignThreadError extends Error {
  readonly why: 'busy' | 'failed';

  constructor(message: string, why: 'busy' | 'failed' = 'failed') {
    super(message);
    this.why = why;
    this.name = 'ForeignThreadError';
  }
}

/** On a machine that has other work, a task may last so many times what it may compute. */
const MOST_WAIT = 30;
const LOOK_AGAIN_MS = 20;

interface Waiting {
  readonly take: (answer: ForeignAnswer) => void;
  readonly fail: (error: ForeignThreadError) => void;
}

export class ForeignWorker {
  readonly #worker: Worker;
  readonly #after: After;
  #waiting: Waiting | undefined;
  #cpuMs: CpuClock = () => undefined;
  #dead: ForeignThreadError | undefined;

  private constructor(after: After) {
    this.#after = after;
    // Nothing of the gateway's environment is any business of a schema.
    this.#worker = new Worker(THREAD, { resourceLimits: MEMORY, env: {} });
    this.#worker.on('message', (answer: ForeignAnswer) => {
      if (answer.kind === 'ready') this.#cpuMs = cpuClockOf(answer.thread);
      this.#waiting?.take(answer);
    });
    this.#worker.on('error', (error: Error) => this.#end(`it ended: ${error.message}`));
    this.#worker.on('exit', () => this.#end('it ended'));
  }

  /** Starting is not the task's time: modules are loaded, nothing foreign is looked at. */
  static async start(after: After, withinMs: number): Promise<ForeignWorker> {
    const worker = new ForeignWorker(after);
    await worker.#answer((end) =>
      after(withinMs, () => end(`it did not start within ${withinMs} ms`, 'busy')),
    );
    return worker;
  }

  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  /**
   * `withinMs` of the thread's own work: what others do on this machine does not count. Rejects with ForeignThreadError; the
   * worker is dead then. Not to be called while a task runs.
   */
  run(task: ForeignTask, withinMs: number): Promise<ForeignAnswer> {
    const answer = this.#answer((end) => this.#limitWork(withinMs, end));
    this.#worker.postMessage(task);
    return answer;
  }

  async end(): Promise<void> {
    this.#end('it was ended');
    await this.#worker.terminate();
  }

  /** Where the system does not tell what a thread worked, the time that passes has to do. */
  #limitWork(withinMs: number, end: End): () => void {
    const before = this.#cpuMs();
    let waited = 0;
    const look = (ms: number): (() => void) =>
      this.#after(ms, () => {
        waited += ms;
        const now = this.#cpuMs();
        const worked = before === undefined || now === undefined ? waited : now - before;
        if (worked >= withinMs) end(`it was not done within ${withinMs} ms of work`, 'failed');
        else if (waited >= withinMs * MOST_WAIT) end(`the machine had no time for it`, 'busy');
        else stop = look(Math.max(LOOK_AGAIN_MS, withinMs - worked));
      });
    let stop = look(withinMs);
    return () => stop();
  }

  #answer(limit: (end: End) => () => void): Promise<ForeignAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ForeignAnswer>();
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    // Someone waits for it: a process with nothing else to do must not end now.
    this.#worker.ref();
    const disarm = limit((why, kind) => this.#end(why, kind));
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

  #end(why: string, kind: 'busy' | 'failed' = 'failed'): void {
    if (this.#dead !== undefined) return;
    this.#dead = new ForeignThreadError(`The check was given up: ${why}.`, kind);
    this.#waiting?.fail(this.#dead);
    void this.#worker.terminate();
  }
}
