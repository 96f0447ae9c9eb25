// A detector by words and phrases: whole words, in any case, whatever stands between the words of a phrase.
import type { Detector, Span } from './detector.ts';

interface Node {
  readonly next: Map<string, Node>;
  ends: boolean;
}

/** One class repeated, with nothing behind it: there is nothing to go back to. */
const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const LAST_IN_WORD = /[\p{L}\p{M}\p{N}_]$/u;
/** Between two words of a phrase. */
const MAX_GAP = 16;

/** Throws Error for a phrase without a word in it. */
export function wordDetector(phrases: readonly string[]): Detector {
  const root: Node = newNode();
  for (const phrase of phrases) {
    let node = root;
    for (const [word] of phrase.normalize('NFKC').matchAll(new RegExp(WORD))) {
      const next = node.next.get(folded(word)) ?? newNode();
      node.next.set(folded(word), next);
      node = next;
    }
    if (node === root) throw new Error(`"${phrase}" has no word in it`);
    node.ends = true;
  }
  return { find: (text, from, limit) => firstPhrase(root, text, from, limit) };
}

function newNode(): Node {
  return { next: new Map(), ends: false };
}

/** Full-width letters and the like are the letters they stand for. */
function folded(word: string): string {
  return word.normalize('NFKC').toLowerCase();
}

function firstPhrase(root: Node, text: string, from: number, limit: number): Span | undefined {
  let word = wordFrom(text, from);
  // The rest of a word that began before is no word.
  if (word?.start === from && endsInWord(text.slice(Math.max(0, from - 2), from)))
    word = wordFrom(text, word.end);
  for (; word !== undefined && word.start < limit; word = wordFrom(text, word.end)) {
    const end = phraseEnd(root, text, word);
    if (end !== undefined) return { start: word.start, end };
  }
  return undefined;
}

/** The end of the longest phrase that begins with this word. */
function phraseEnd(root: Node, text: string, first: Span): number | undefined {
  let end: number | undefined;
  let node = root.next.get(folded(text.slice(first.start, first.end)));
  for (let word: Span | undefined = first; word !== undefined && node !== undefined;) {
    if (node.ends) end = word.end;
    if (node.next.size === 0) break;
    const next = wordFrom(text, word.end);
    if (next === undefined || next.start - word.end > MAX_GAP) break;
    node = node.next.get(folded(text.slice(next.start, next.end)));
    word = next;
  }
  return end;
}

function wordFrom(text: string, from: number): Span | undefined {
  WORD.lastIndex = from;
  const match = WORD.exec(text);
  return match === null ? undefined : { start: match.index, end: match.index + match[0].length };
}

function endsInWord(before: string): boolean {
  return LAST_IN_WORD.test(before);
}
