// Waits on a clock, for no longer than its signal allows.
import type { Timers } from './timers.ts';

/** Never rejects: settles when the time is over or the signal aborts. */
export function pause(clock: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  if (signal === undefined) return promise;
  const onAbort = () => {
    cancel();
    resolve();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', onAbort));
}
