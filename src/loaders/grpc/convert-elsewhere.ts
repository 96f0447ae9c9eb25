// Converts services in a thread of their own: calls go on meanwhile, and nothing takes more than its time and memory.
import { runInThread, ThreadTaskError } from '../../lib/concurrency/thread-task.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Converted, ConvertRequest } from './convert-services.ts';

const TIMEOUT_MS = 60_000;
const MAX_MEMORY_MB = 1024;
/** Beside this file, in src as in dist. */
const THREAD = new URL(`convert-thread${import.meta.url.slice(-3)}`, import.meta.url);

/** Rejects with Error, a sentence for the operator, or with the signal's reason. */
export async function convertElsewhere(
  request: ConvertRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<Converted> {
  try {
    return await runInThread(THREAD, request, {
      clock,
      timeoutMs: TIMEOUT_MS,
      maxMemoryMb: MAX_MEMORY_MB,
      signal,
    });
  } catch (error) {
    if (!(error instanceof ThreadTaskError)) throw error;
    throw new Error(`The services were not converted: ${error.message}.`, { cause: error });
  }
}
