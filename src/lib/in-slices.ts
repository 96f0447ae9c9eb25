// Long work in short slices, so that everything else gets its turn in between.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The longest that work goes on before it gives way, in milliseconds; a slice that has begun is finished. */
const SLICE_MS = 5;

/** `work` yields wherever it may be interrupted. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  let since = performance.now();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    if (performance.now() - since < SLICE_MS) continue;
    await nextTurn();
    since = performance.now();
  }
}

/** For work that is known to be short, or done before anybody is served. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}
