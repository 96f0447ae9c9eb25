// Functions whose code has changed since they were prepared: found now and then, so that a reload prepares them anew.
import type { PreparedFunction } from '../../contract/plugin.ts';
import { pause } from '../../lib/timers/pause.ts';
import type { Clock } from '../../ports/clock.ts';

/** A changed handler is in force this long after it was written, and what preparing takes. */
const LOOK_EVERY_MS = 2_000;

export interface StaleWatch {
  readonly clock: Clock;
  prepared(): Iterable<PreparedFunction>;
  /** Runs after each look that found something, until nothing is found any more. */
  reload(): Promise<unknown>;
}

/** Settles when the signal aborts. */
export async function watchStale(watch: StaleWatch, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(watch.clock, LOOK_EVERY_MS, signal);
    if (!signal.aborted && (await anyStale(watch.prepared()))) await watch.reload();
  }
}

export async function anyStale(prepared: Iterable<PreparedFunction>): Promise<boolean> {
  for (const fn of prepared) if (await isStale(fn)) return true;
  return false;
}

/** One that cannot tell is kept: what it holds still works. */
async function isStale(fn: PreparedFunction): Promise<boolean> {
  try {
    return (await fn.isStale?.()) ?? false;
  } catch {
    return false;
  }
}
