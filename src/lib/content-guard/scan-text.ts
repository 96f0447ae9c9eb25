// Looks a text through in pieces, so that a long one holds nobody up. Pieces overlap: what begins in one may end in the next.
import type { Detector, Span } from './detector.ts';

/** Where a finding may begin, in one piece. */
const WINDOW = 4_096;
/** How far it may reach beyond: the longest that is found for certain. */
export const LONGEST_FINDING = 4_096;
/** Findings after which others get their turn. */
const FINDINGS_AT_ONCE = 32;
/** Before the window: enough for one character, to tell whether a word begins. */
const CONTEXT = 2;

/** A finding without a known end: what begins with it is longer than what is looked at together. */
export class EndlessFinding extends Error {}

/** Every finding, from left to right; where detectors say so they overlap. Throws EndlessFinding. Yields after each piece, and after some findings. */
export function* findingsIn(text: string, detector: Detector): Generator<void, readonly Span[]> {
  const found: Span[] = [];
  for (let from = 0; from < text.length;) {
    const base = Math.max(0, from - CONTEXT);
    const end = wholeCharacter(text, Math.min(text.length, from + WINDOW + LONGEST_FINDING));
    const isLast = end >= text.length;
    const piece = base === 0 && isLast ? text : text.slice(base, end);
    const limit = isLast ? piece.length : from - base + WINDOW;
    let at = mayHold(piece, detector) ? from - base : limit;
    const inPiece = at < limit ? (detector.within?.(piece) ?? detector) : detector;
    while (at < limit) {
      const span = inPiece.find(piece, at, limit);
      if (span === undefined) at = limit;
      else {
        if (!isLast && span.end >= piece.length) throw new EndlessFinding();
        found.push({ start: base + span.start, end: base + span.end });
        at = detector.overlaps === true ? span.start + 1 : span.end;
        if (found.length % FINDINGS_AT_ONCE === 0) yield;
      }
    }
    from = wholeCharacter(text, base + at);
    if (!isLast) yield;
    else break;
  }
  return found;
}

/** Never between the halves of a character. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  return code >= 0xdc00 && code < 0xe000 && before >= 0xd800 && before < 0xdc00 ? at + 1 : at;
}

function mayHold(text: string, { hints }: Detector): boolean {
  return hints === undefined || hints.some((hint) => text.includes(hint));
}
