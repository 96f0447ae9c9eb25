// What a load left in memory: of the heap, and of the process once what was freed has gone back to the machine.
import { setTimeout as pause } from 'node:timers/promises';

const MIB = 1024 * 1024;
/** The thread that converted, and what it was sent, go within seconds. */
const MOST_LOOKS = 60;

export class KeptMemory {
  #heap = 0;
  #process = 0;

  begin(): void {
    globalThis.gc?.();
    this.#heap = process.memoryUsage().heapUsed;
    this.#process = process.memoryUsage().rss;
  }

  heapMiB(): number {
    globalThis.gc?.();
    return (process.memoryUsage().heapUsed - this.#heap) / MIB;
  }

  /** Waits until it no longer falls: for a page, not for a verdict. */
  async processMiB(): Promise<number> {
    let [least, still] = [Infinity, 0];
    for (let look = 0; look < MOST_LOOKS && still < 20; look += 1) {
      globalThis.gc?.();
      const { rss } = process.memoryUsage();
      still = rss < least - MIB / 2 ? 0 : still + 1;
      least = Math.min(least, rss);
      await pause(500);
    }
    return Math.max(0, Math.round((least - this.#process) / MIB));
  }
}
