// Tries again what a busy machine, or one that has just started, may not manage at once.
import { pause } from './pause.ts';
import type { Timers } from './timers.ts';

export interface Tries {
  /** From then on a failure is the last one. */
  readonly ms: number;
  readonly everyMs: number;
}

/** Rejects with the failure of the last try. */
export async function tryFor<Result>(
  clock: Timers & { now(): number },
  { ms, everyMs }: Tries,
  task: () => Promise<Result>,
): Promise<Result> {
  const giveUpAt = clock.now() + ms;
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (clock.now() >= giveUpAt) throw error;
      await pause(clock, everyMs);
    }
  }
}
