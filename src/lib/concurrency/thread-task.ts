// One task in a thread of its own: calls go on meanwhile, and no input takes more than its time and memory.
import { Worker } from 'node:worker_threads';
import type { Timers } from '../timers/timers.ts';

export interface ThreadLimits {
  readonly clock: Timers;
  readonly timeoutMs: number;
  readonly maxMemoryMb: number;
  readonly signal: AbortSignal;
  /** Of the request: given away instead of copied. */
  readonly transfer?: readonly ArrayBuffer[];
}

/** `late`: its time was over. `failed`: it threw, or its memory was full. `ended`: it gave no answer. */
export class ThreadTaskError extends Error {
  constructor(
    readonly kind: 'late' | 'failed' | 'ended',
    message: string,
  ) {
    super(message);
    this.name = 'ThreadTaskError';
  }
}

/**
 * The first message of the thread that runs `file` on `request` (its workerData). Rejects with ThreadTaskError, or with
 * the signal's reason when that aborts.
 */
export function runInThread<Answer>(file: URL, request: unknown, limits: ThreadLimits): Promise<Answer> {
  const { clock, timeoutMs, maxMemoryMb, signal, transfer = [] } = limits;
  return new Promise<Answer>((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new Worker(file, {
      workerData: request,
      transferList: [...transfer],
      resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
    });
    const settle = (end: () => void) => {
      disarm();
      signal.removeEventListener('abort', onAbort);
      end();
      void worker.terminate();
    };
    const fail = (kind: ThreadTaskError['kind'], message: string) =>
      settle(() => reject(new ThreadTaskError(kind, message)));
    const onAbort = () => settle(() => reject(signal.reason as Error));
    const disarm = clock.after(timeoutMs, () => fail('late', `took longer than ${timeoutMs} ms`));
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('message', (answer: Answer) => settle(() => resolve(answer)));
    worker.once('error', (error: Error) => fail('failed', error.message));
    worker.once('exit', () => fail('ended', 'its thread ended'));
  });
}
