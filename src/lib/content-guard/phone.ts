// Phone numbers as they are written internationally (E.164): a plus sign, and 7 to 15 digits.
import { isDigit, plainCode } from './characters.ts';
import type { Detector } from './detector.ts';

const PLUS = 43;
const FEWEST = 7;
const MOST = 15;
/** Blank, brackets, dash, dot. */
const SEPARATORS = new Set([32, 40, 41, 45, 46]);
const MAX_SEPARATORS = 2;

export const phone: Detector = {
  hints: ['+', '\uff0b'],
  find(text, from, limit) {
    for (let at = from; at < limit; at += 1) {
      if (plainCode(text, at) !== PLUS || isDigit(plainCode(text, at - 1))) continue;
      const end = endOfNumber(text, at + 1);
      if (end !== undefined) return { start: at, end };
    }
    return undefined;
  },
};

/** As many groups of digits as one number may have; never a part of a group. */
function endOfNumber(text: string, from: number): number | undefined {
  // No country's code begins with 0.
  if (plainCode(text, from) === 48) return undefined;
  let digits = 0;
  let separators = 0;
  let end: number | undefined;
  for (let at = from; digits <= MOST && separators <= MAX_SEPARATORS; at += 1) {
    const code = plainCode(text, at);
    if (isDigit(code)) {
      digits += 1;
      separators = 0;
      if (digits >= FEWEST && digits <= MOST && !isDigit(plainCode(text, at + 1))) end = at + 1;
    } else if (digits > 0 && SEPARATORS.has(code)) separators += 1;
    else break;
  }
  return end;
}
