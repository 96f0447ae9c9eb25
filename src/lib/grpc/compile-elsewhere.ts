// Compiles .proto files in a thread of its own: calls go on meanwhile, and no file takes more than its time and memory.
import { runInThread, ThreadTaskError } from '../concurrency/thread-task.ts';
import type { Timers } from '../timers/timers.ts';
import { readDescriptorSet, type Described } from './descriptor-set.ts';

export interface CompileRequest {
  /** Absolute. */
  readonly files: readonly string[];
  readonly importPaths: readonly string[];
}

export interface CompileAnswer {
  readonly set: Uint8Array;
  readonly comments: ReadonlyMap<string, string>;
}

const TIMEOUT_MS = 60_000;
const MAX_MEMORY_MB = 512;
/** Beside this file, in src as in dist. */
const THREAD = new URL(`compile-thread${import.meta.url.slice(-3)}`, import.meta.url);

/** Rejects with Error, a sentence for the operator, or with the signal's reason. */
export async function compileElsewhere(
  request: CompileRequest,
  clock: Timers,
  signal: AbortSignal,
): Promise<Described> {
  try {
    const limits = { clock, timeoutMs: TIMEOUT_MS, maxMemoryMb: MAX_MEMORY_MB, signal };
    const { set, comments } = await runInThread<CompileAnswer>(THREAD, request, limits);
    return { files: readDescriptorSet(set).files, comments };
  } catch (error) {
    if (!(error instanceof ThreadTaskError)) throw error;
    throw new Error(
      error.kind === 'failed' ? error.message : `protos: they were not compiled: ${error.message}.`,
      { cause: error },
    );
  }
}
