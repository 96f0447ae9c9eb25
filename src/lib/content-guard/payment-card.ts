// Payment card numbers: 13 to 19 digits that pass Luhn's check, written in one or in groups.
import { blanksAt, isAsciiWord, isDigit, plainCode } from './characters.ts';
import type { Detector, Span } from './detector.ts';

const SHORTEST = 13;
const LONGEST = 19;
/** Of a number that is written in groups. */
const FIRST_GROUP = 4;
const SMALLEST_GROUP = 3;
const DASH = 45;

export const paymentCard: Detector = {
  overlaps: true,
  find(text, from, limit) {
    for (let at = from; at < limit; at += 1) {
      // 2 to 6: what networks of cards begin with.
      const first = plainCode(text, at);
      if (first < 50 || first > 54 || isAsciiWord(plainCode(text, at - 1))) continue;
      const span = cardAt(text, at);
      if (span !== undefined) return span;
    }
    return undefined;
  },
};

function cardAt(text: string, start: number): Span | undefined {
  // Which digits are doubled depends on how many there are: both sums are kept.
  const sums: [number, number] = [0, 0];
  let digits = 0;
  let group = 0;
  let separator = 0;
  let found: Span | undefined;
  for (let at = start; digits < LONGEST;) {
    const code = plainCode(text, at);
    if (isDigit(code)) {
      const digit = code - 48;
      const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
      sums[0] += digits % 2 === 0 ? doubled : digit;
      sums[1] += digits % 2 === 0 ? digit : doubled;
      digits += 1;
      group += 1;
      at += 1;
      const ends = !isAsciiWord(plainCode(text, at));
      if (ends && digits >= SHORTEST && (sums[digits % 2 === 0 ? 0 : 1] ?? 1) % 10 === 0)
        found = { start, end: at };
      continue;
    }
    const width = code === DASH ? 1 : blanksAt(text, at);
    const separates = separator === 0 ? group === FIRST_GROUP : code === separator && group >= SMALLEST_GROUP;
    if (width === 0 || !separates) break;
    separator = code;
    group = 0;
    at += width;
  }
  return found;
}
