// BoundedThread: a thread for what comes from others, with the memory that it may have. One task at a time; it dies of a bad one.
import { Worker } from 'node:worker_threads';
import { cpuClockOf, type CpuClock } from './thread-cpu.ts';

/** The first thing that such a thread says. `thread`: as the system calls it, where it knows. */
export interface ThreadReady {
  readonly kind: 'ready';
  readonly thread: string | undefined;
}

export interface ThreadProgram {
  readonly file: URL;
  readonly memory: {
    readonly maxOldGenerationSizeMb: number;
    readonly maxYoungGenerationSizeMb: number;
    readonly stackSizeMb: number;
  };
}

type End = (why: string, kind: 'busy' | 'failed') => void;

export type After = (ms: number, task: () => void) => () => void;

/**
 * The thread is gone. `failed`: it took too much time or memory, or broke, by what it was given. `busy`: it hardly ran at
 * all, which says nothing of the task.
 */
export class BoundedThreadError extends Error {
  readonly why: 'busy' | 'failed';

  constructor(message: string, why: 'busy' | 'failed' = 'failed') {
    super(message);
    this.why = why;
    this.name = 'BoundedThreadError';
  }
}

/** On a machine that has other work, a task may last so many times what it may compute. */
const MOST_WAIT = 30;
const LOOK_AGAIN_MS = 20;

interface Waiting<Answer> {
  readonly take: (answer: Answer) => void;
  readonly fail: (error: BoundedThreadError) => void;
}

export class BoundedThread<Task, Answer extends { readonly kind: string }> {
  readonly #worker: Worker;
  readonly #after: After;
  #waiting: Waiting<Answer | ThreadReady> | undefined;
  #cpuMs: CpuClock = () => undefined;
  #dead: BoundedThreadError | undefined;

  private constructor({ file, memory }: ThreadProgram, after: After) {
    this.#after = after;
    // Nothing of the gateway's environment is any business of what others wrote.
    this.#worker = new Worker(file, { resourceLimits: memory, env: {} });
    this.#worker.on('message', (answer: Answer | ThreadReady) => {
      if (isReady(answer)) this.#cpuMs = cpuClockOf(answer.thread);
      this.#waiting?.take(answer);
    });
    this.#worker.on('error', (error: Error) => this.#end(`it ended: ${error.message}`));
    this.#worker.on('exit', () => this.#end('it ended'));
  }

  /** Starting is not the task's time: modules are loaded, nothing foreign is looked at. */
  static async start<Task, Answer extends { readonly kind: string }>(
    program: ThreadProgram,
    after: After,
    withinMs: number,
  ): Promise<BoundedThread<Task, Answer>> {
    const thread = new BoundedThread<Task, Answer>(program, after);
    await thread.#answer((end) =>
      after(withinMs, () => end(`it did not start within ${withinMs} ms`, 'busy')),
    );
    return thread;
  }

  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  /**
   * `withinMs` of the thread's own work: what others do on this machine does not count. Rejects with BoundedThreadError; the
   * thread is dead then. Not to be called while a task runs.
   */
  async run(task: Task, withinMs: number): Promise<Answer> {
    const answer = this.#answer((end) => this.#limitWork(withinMs, end));
    this.#worker.postMessage(task);
    return (await answer) as Answer;
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

  #answer(limit: (end: End) => () => void): Promise<Answer | ThreadReady> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer | ThreadReady>();
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
    this.#dead = new BoundedThreadError(`The task was given up: ${why}.`, kind);
    this.#waiting?.fail(this.#dead);
    void this.#worker.terminate();
  }
}

function isReady(answer: { readonly kind: string }): answer is ThreadReady {
  return answer.kind === 'ready';
}
