// HostMemory: looks at the memory of busy threads and of the whole process, many times a second while anything runs.
import { writeSync } from 'node:fs';
import type { HostLimits } from '../threads/host-frames.ts';
import { heapCeiling, type HostThread } from './host-thread.ts';

const INTERVAL_MS = 20;
const STDERR = 2;
/** Node itself, and messages on their way. */
const OWN_BYTES = 256 * 1024 * 1024;
/** Messages of so many calls on their way. */
const MESSAGES = 16;

export class HostMemory {
  readonly #limits: HostLimits;
  readonly #threads: ReadonlyMap<number, HostThread>;
  #armed = false;

  constructor(limits: HostLimits, threads: ReadonlyMap<number, HostThread>) {
    this.#limits = limits;
    this.#threads = threads;
  }

  /** Something has begun to run. */
  wake(): void {
    if (this.#armed) return;
    this.#armed = true;
    setTimeout(() => {
      this.#armed = false;
      this.#look();
    }, INTERVAL_MS);
  }

  #look(): void {
    // A thread inside one long native call cannot be measured, nor ended: then nothing but the end of all helps.
    if (process.memoryUsage.rss() > this.#most()) endForMemory();
    let busy = false;
    for (const thread of this.#threads.values()) {
      if (!thread.isBusy) continue;
      busy = true;
      void thread.checkMemory();
    }
    if (busy) this.wake();
  }

  /** One thread may be up to the ceiling before it is ended, all others keep to their limit. */
  #most(): number {
    const { maxMemoryBytes, maxMessageBytes } = this.#limits;
    return (
      OWN_BYTES + MESSAGES * maxMessageBytes + heapCeiling(this.#limits) + this.#threads.size * maxMemoryBytes
    );
  }
}

/** In the words of V8, which the gateway takes for what they say: a process that is killed says nothing. */
function endForMemory(): void {
  try {
    writeSync(STDERR, 'FATAL ERROR: the threads of this process use more memory than they may\n');
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
