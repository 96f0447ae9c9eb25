// What a character is, by its code: for detectors that walk over a text themselves.

const BLANK = 32;
/** No-break, figure, thin, narrow no-break and ideographic space. */
const OTHER_BLANKS = new Set([0xa0, 0x2007, 0x2009, 0x202f, 0x3000]);
/** From ! to ~, each as far from the character that it stands for. */
const FULL_WIDTH_FIRST = 0xff01;
const FULL_WIDTH_LAST = 0xff5e;
const FULL_WIDTH_DISTANCE = 0xfee0;

/** Full-width characters are those that they stand for, and blanks of other widths are blanks. NaN outside of the text. */
export function plainCode(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (!(code > 127)) return code;
  if (code >= FULL_WIDTH_FIRST && code <= FULL_WIDTH_LAST) return code - FULL_WIDTH_DISTANCE;
  return OTHER_BLANKS.has(code) ? BLANK : code;
}

/** How many blanks stand here, of those that may stand between two groups. */
export function blanksAt(text: string, at: number): 0 | 1 | 2 {
  if (plainCode(text, at) !== BLANK) return 0;
  return plainCode(text, at + 1) === BLANK ? 2 : 1;
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

export function isAsciiWord(code: number): boolean {
  return isDigit(code) || isUpper(code) || (code >= 97 && code <= 122);
}
