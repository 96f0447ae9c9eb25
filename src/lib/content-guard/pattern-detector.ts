// A detector by regular expression. RE2 never backtracks: hostile text costs no more than any other.
import { RE2JS } from 're2js';
import type { Detector } from './detector.ts';

/** What one step of the engine over a piece of text may cost. `{1,1000}` and its like make larger programs. */
const MAX_PROGRAM = 300;

/**
 * `hints`: literal texts, one of which is part of whatever matches. Throws Error for what is no pattern of RE2, is too costly,
 * or finds nothing at all everywhere.
 */
export function patternDetector(pattern: string, hints?: readonly string[]): Detector {
  const re = RE2JS.compile(pattern);
  if (re.programSize() > MAX_PROGRAM)
    throw new Error('it takes too many steps: write fewer or smaller repetitions');
  if (re.matcher('').find()) throw new Error('it matches the empty text, which is everywhere');
  return {
    ...(hints !== undefined && { hints }),
    find(text, from, limit) {
      const matcher = re.matcher(text);
      for (let at = from; at < limit && matcher.find(at); at = matcher.end() + 1) {
        const start = matcher.start();
        const end = matcher.end();
        if (start >= limit) return undefined;
        // A pattern such as `\b` finds places, not text.
        if (end > start) return { start, end };
      }
      return undefined;
    },
  };
}
