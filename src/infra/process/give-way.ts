// A thread that gives way to the others of its process where there is not processor time for all.
import { getPriority, setPriority } from 'node:os';

/** By `nice`: such a thread gets a quarter of a processor that another one of the usual priority could use alone. */
const LESS = 5;
const LEAST = 19;

/** Of the thread that calls it. Only Linux has a priority for each thread: elsewhere it would be that of the whole process, and stays as it is. */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(LEAST, getPriority() + LESS));
  } catch {
    // A sandbox may forbid it: then all threads are equal, as they were.
  }
}
