// Private keys in PEM: from the line that begins one to the line that ends it, or as far as what follows may be part of one.
import type { Detector } from './detector.ts';
import { patternDetector } from './pattern-detector.ts';

const header = patternDetector('-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----');
/** Base 64, headers of the key, and line ends that were written as `\n`. */
const BODY = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=:,.-\\ \t\r\n');
const LAST_LINE = '-----END ';
const DASHES = '-----';

export const privateKey: Detector = {
  hints: ['PRIVATE KEY'],
  find(text, from, limit) {
    const begin = header.find(text, from, limit);
    return begin && { start: begin.start, end: endOfKey(text, begin.end) };
  },
};

function endOfKey(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (!BODY.has(character)) return at;
    if (character !== '-' || !text.startsWith(DASHES, at)) continue;
    // Another key may begin here; any other line of dashes is this one's last.
    if (!text.startsWith(LAST_LINE, at)) return at;
    const close = text.slice(at + LAST_LINE.length, at + LAST_LINE.length + 64).indexOf(DASHES);
    return close < 0 ? at : at + LAST_LINE.length + close + DASHES.length;
  }
  return text.length;
}
