// Private keys in PEM: from the line that begins one to the line that ends it, or as far as what follows may be part of one.
import type { Detector, Span } from './detector.ts';
import { patternDetector } from './pattern-detector.ts';
import { LONGEST_FINDING } from './scan-text.ts';

const HEADER = '-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----';
/** Base 64, headers of the key, and line ends that were written as `\n`. */
const BODY = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=:,.-\\ \t\r\n');
const LAST_LINE = '-----END ';
const DASHES = '-----';
const MAX_LABEL = 64;
const KEY_LABEL = /PRIVATE KEY(?: BLOCK)?$/;

export function privateKeyDetector(): Detector {
  const header = patternDetector(HEADER);
  const find = (text: string, from: number, limit: number, lastLines: LastLines) => {
    const begin = header.find(text, from, limit);
    return begin && keyFrom(begin, text, lastLines);
  };
  return {
    hints: ['PRIVATE KEY'],
    find: (text, from, limit) => find(text, from, limit, new LastLines(text)),
    within(text) {
      const lastLines = new LastLines(text);
      return { find: (_text, from, limit) => find(text, from, limit, lastLines) };
    },
  };
}

function keyFrom(begin: Span, text: string, lastLines: LastLines): Span {
  // Quoted, commented out or joined from strings: whatever stands between both lines may be the key.
  const last = lastLines.after(begin.end);
  const isWhole = last !== undefined && last.end - begin.start <= LONGEST_FINDING;
  return { start: begin.start, end: isWhole ? last.end : endOfBody(text, begin.end) };
}

/** The lines of one text that end a private key, each looked for once however many begin before it. */
class LastLines {
  readonly #text: string;
  #known: { readonly from: number; readonly line: Span | undefined } | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  after(from: number): Span | undefined {
    const known = this.#known;
    if (known !== undefined && from >= known.from && (known.line === undefined || from <= known.line.start))
      return known.line;
    const line = this.#search(from);
    this.#known = { from, line };
    return line;
  }

  #search(from: number): Span | undefined {
    for (let at = this.#text.indexOf(LAST_LINE, from); at >= 0;) {
      const label = labelAt(this.#text, at);
      if (label !== undefined && KEY_LABEL.test(label))
        return { start: at, end: at + LAST_LINE.length + label.length + DASHES.length };
      at = this.#text.indexOf(LAST_LINE, at + LAST_LINE.length);
    }
    return undefined;
  }
}

/** Without a last line: as far as it may be part of a key. */
function endOfBody(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (!BODY.has(character)) return at;
    if (character !== '-' || !text.startsWith(DASHES, at)) continue;
    // Another key may begin here; any other line of dashes is this one's last.
    if (!text.startsWith(LAST_LINE, at)) return at;
    const label = labelAt(text, at);
    return label === undefined ? at : at + LAST_LINE.length + label.length + DASHES.length;
  }
  return text.length;
}

/** What a last line ends. Undefined: it is none. */
function labelAt(text: string, line: number): string | undefined {
  const rest = text.slice(line + LAST_LINE.length, line + LAST_LINE.length + MAX_LABEL);
  const close = rest.indexOf(DASHES);
  return close < 0 ? undefined : rest.slice(0, close);
}
