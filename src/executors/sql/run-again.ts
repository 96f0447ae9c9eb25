// A statement that met another one at work on the same rows is run again: by then it sees what the other wrote.
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';

const MET_ANOTHER: ReadonlySet<string> = new Set<Reason>([
  'EXCLUSION_VIOLATION',
  'UNIQUE_VIOLATION',
  'CONCURRENT_CHANGE',
]);

/** Each time from the start: what it had done when it met the other is undone. Throws what the last time throws. */
export async function runAgain<Result>(
  mostTimes: number,
  run: () => Promise<Result>,
  mayGoOn: () => boolean,
): Promise<Result> {
  for (let left = mostTimes; ; left -= 1) {
    try {
      return await run();
    } catch (error) {
      const hasMet = error instanceof ToolFailure && MET_ANOTHER.has(error.reason ?? '');
      if (!hasMet || left === 0 || !mayGoOn()) throw error;
    }
  }
}
