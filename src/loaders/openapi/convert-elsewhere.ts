// Converts a document in a thread of its own: calls go on meanwhile, and no document takes more than its time and memory.
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../ports/clock.ts';
import type { Converted, ConvertRequest } from './convert-document.ts';

const MAX_MEMORY_MB = 1024;

/** Beside this file, in src as in dist. */
const THREAD = new URL(`convert-thread${import.meta.url.slice(-3)}`, import.meta.url);

export interface ThreadLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Rejects with Error: the message completes "the document …". An abort rejects with the signal's reason. */
export function convertElsewhere(request: ConvertRequest, limits: ThreadLimits): Promise<Converted> {
  const { clock, timeoutMs, signal } = limits;
  return new Promise<Converted>((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new Worker(THREAD, {
      workerData: request,
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    });
    const settle = (end: () => void) => {
      disarm();
      signal.removeEventListener('abort', onAbort);
      end();
      void worker.terminate();
    };
    const onAbort = () => settle(() => reject(signal.reason as Error));
    const disarm = clock.after(timeoutMs, () =>
      settle(() => reject(new Error(`was not converted within ${timeoutMs} ms`))),
    );
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('message', (converted: Converted) => settle(() => resolve(converted)));
    worker.once('error', (error: Error) =>
      settle(() => reject(new Error(`cannot be converted: ${error.message}`))),
    );
    worker.once('exit', () => settle(() => reject(new Error('was not converted: its thread ended'))));
  });
}
