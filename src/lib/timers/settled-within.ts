// Waits for work that heeds no signal, for no longer than so much time.
import type { Timers } from './timers.ts';

/** Resolves when the work has ended, whatever came of it, or the time is over. Never rejects. */
export function settledWithin(clock: Timers, ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const disarm = clock.after(ms, resolve);
  const done = () => {
    disarm();
    resolve();
  };
  work.then(done, done);
  return promise;
}
