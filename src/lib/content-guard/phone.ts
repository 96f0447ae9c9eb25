// Phone numbers as they are written internationally (E.164): a plus sign, and 7 to 15 digits.
import { isDigit } from './characters.ts';
import type { Detector } from './detector.ts';

const FEWEST = 7;
const MOST = 15;
/** Blank, brackets, dash, dot. */
const SEPARATORS = new Set([32, 40, 41, 45, 46]);
const MAX_SEPARATORS = 2;

export const phone: Detector = {
  hints: ['+'],
  find(text, from, limit) {
    for (let at = text.indexOf('+', from); at >= 0 && at < limit; at = text.indexOf('+', at + 1)) {
      const end = endOfNumber(text, at + 1);
      if (end !== undefined) return { start: at, end };
    }
    return undefined;
  },
};

function endOfNumber(text: string, from: number): number | undefined {
  // No country's code begins with 0.
  if (text.charCodeAt(from) === 48) return undefined;
  let digits = 0;
  let separators = 0;
  let end = from;
  for (let at = from; digits < MOST && separators <= MAX_SEPARATORS; at += 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) {
      digits += 1;
      separators = 0;
      end = at + 1;
    } else if (digits > 0 && SEPARATORS.has(code)) separators += 1;
    else break;
  }
  return digits >= FEWEST ? end : undefined;
}
