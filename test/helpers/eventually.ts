// Waits for what will become true: for longer than a busy machine needs, so that only what never comes is a failure.
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;
const LATE = Symbol('late');

type Try<T> = { readonly gave: T } | { readonly threw: unknown };

/**
 * What `check` gives, once it neither throws nor gives false. After `withinMs` it throws what the last try threw, or that
 * `what` did not come; a try that hangs is left behind.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  what = 'what was waited for',
  withinMs = 30_000,
): Promise<Exclude<T, false>> {
  const waiting = new AbortController();
  const late = pause(withinMs, LATE, { signal: waiting.signal, ref: false }).catch(() => LATE);
  let failure: unknown = new Error(`not within ${withinMs} ms: ${what}`);
  try {
    for (;;) {
      const seen = await Promise.race([tried(check), late]);
      if (seen === LATE) throw failure;
      const one = seen as Try<T>;
      if ('threw' in one) failure = one.threw;
      else if (one.gave !== false) return one.gave as Exclude<T, false>;
      if ((await Promise.race([pause(LOOK_EVERY_MS), late])) === LATE) throw failure;
    }
  } finally {
    waiting.abort();
  }
}

async function tried<T>(check: () => T | Promise<T>): Promise<Try<T>> {
  try {
    return { gave: await check() };
  } catch (threw) {
    return { threw };
  }
}
