// Long work in short slices, so that everything else gets its turn in between.
import { setImmediate as yieldToLoop } from 'node:timers/promises';

export { yieldToLoop };

/** The longest that work goes on before it gives way, in milliseconds; a slice that has begun is finished. */
const SLICE_MS = 5;

/** `work` yields wherever it may be interrupted. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  let since = performance.now();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    if (performance.now() - since < SLICE_MS) continue;
    await yieldToLoop();
    since = performance.now();
  }
}

/** The same for a loop that waits for each item, which by itself gives way to nothing but promises. */
export class Slices {
  #since = performance.now();

  /** To be awaited before each item. */
  async next(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await yieldToLoop();
    this.#since = performance.now();
  }
}

/** Characters of JSON that are looked through in the time that work may take at once. */
const LARGE = 1 << 17;

/** True of a text whose reading deserves a turn of its own: what follows on it waits for the next. */
export function isLarge(json: { readonly length: number }): boolean {
  return json.length > LARGE;
}

/** For work that is known to be short, or done before anybody is served. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}
