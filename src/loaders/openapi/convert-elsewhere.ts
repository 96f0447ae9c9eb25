// Converts a document in a thread of its own: calls go on meanwhile, and no document takes more than its time and memory.
import { runInThread, ThreadTaskError } from '../../lib/concurrency/thread-task.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Converted, ConvertRequest } from './convert-document.ts';

/** The bytes are UTF-8, and the thread's from then on: a document of megabytes is not held twice. */
export interface ElsewhereRequest extends Omit<ConvertRequest, 'text'> {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const MAX_MEMORY_MB = 1024;

/** Beside this file, in src as in dist. */
const THREAD = new URL(`convert-thread${import.meta.url.slice(-3)}`, import.meta.url);

export interface ConvertLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Rejects with Error: the message completes "the document …". An abort rejects with the signal's reason. */
export async function convertElsewhere(request: ElsewhereRequest, limits: ConvertLimits): Promise<Converted> {
  try {
    const transfer = [request.bytes.buffer];
    return await runInThread(THREAD, request, { ...limits, maxMemoryMb: MAX_MEMORY_MB, transfer });
  } catch (error) {
    throw error instanceof ThreadTaskError ? new Error(sentence(error, limits.timeoutMs)) : error;
  }
}

function sentence({ kind, message }: ThreadTaskError, timeoutMs: number): string {
  if (kind === 'late') return `was not converted within ${timeoutMs} ms`;
  return kind === 'failed' ? `cannot be converted: ${message}` : `was not converted: ${message}`;
}
