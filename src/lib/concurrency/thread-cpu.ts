// What a thread of this process has worked so far, as the system counts it: on a busy machine time passes without work.
import { readFileSync, readlinkSync } from 'node:fs';

/** Milliseconds on a processor; undefined where the system does not tell. */
export type CpuClock = () => number | undefined;

const NS_PER_MS = 1e6;

/** Of the thread that asks; undefined outside of Linux. */
export function ownThread(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1);
  } catch {
    return undefined;
  }
}

/** A file in memory, which is read in microseconds. */
export function cpuClockOf(thread: string | undefined): CpuClock {
  if (thread === undefined || !/^\d+$/.test(thread)) return () => undefined;
  const file = `/proc/self/task/${thread}/schedstat`;
  return () => {
    try {
      const [onProcessor = ''] = readFileSync(file, 'latin1').split(' ');
      return /^[1-9]\d*$/.test(onProcessor) ? Number(onProcessor) / NS_PER_MS : undefined;
    } catch {
      return undefined;
    }
  };
}
