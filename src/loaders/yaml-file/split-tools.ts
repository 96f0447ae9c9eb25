// Cuts the items of the `tools:` sequence out of a YAML text by indentation alone, so that each can be parsed apart.

/** Whole lines of the text: one item of the sequence, columns as they were. */
export interface Piece {
  readonly text: string;
  /** Lines of the file before it. */
  readonly linesBefore: number;
}

export interface SplitText {
  readonly pieces: readonly Piece[];
  /** The text without its pieces: everything else of the file. */
  readonly skeleton: string;
  /** Offset of the key `tools` in the text and in the skeleton alike. */
  readonly keyOffset: number;
  /** The gap stands after this many lines and was this many lines long. */
  readonly gapAt: number;
  readonly gapLines: number;
}

/** What only a whole parse can judge: directives, several documents, tabs as indentation, stray carriage returns. */
const ODDITIES = /^(?:%|---|\.\.\.)|^[ \-?:]*\t|\r(?!\n)/m;
const TOOLS_KEY = /(?:^|\n)tools:(?: *| +#[^\n]*)\r?\n/;

/**
 * Undefined: the text is not of the plain shape this reads with certainty. YAML wants everything inside an
 * item indented deeper than its dash, so that a dash in the sequence's own column always begins an item.
 */
export function splitTools(text: string): SplitText | undefined {
  if (ODDITIES.test(text)) return undefined;
  const key = TOOLS_KEY.exec(text);
  if (key === null) return undefined;
  const keyOffset = text.indexOf('tools', key.index);
  const ranges = itemRanges(text, key.index + key[0].length);
  const first = ranges?.[0];
  const last = ranges?.at(-1);
  if (ranges === undefined || first === undefined || last === undefined) return undefined;
  const pieces: Piece[] = [];
  let line = countLines(text, 0, first.start);
  const gapAt = line;
  let counted = first.start;
  for (const { start, end } of ranges) {
    line += countLines(text, counted, start);
    counted = start;
    pieces.push({ text: text.slice(start, end), linesBefore: line });
  }
  const gapLines = line + countLines(text, last.start, last.end) - gapAt;
  return { pieces, skeleton: text.slice(0, first.start) + text.slice(last.end), keyOffset, gapAt, gapLines };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function itemRanges(text: string, from: number): readonly Range[] | undefined {
  const ranges: Range[] = [];
  let column = -1;
  let start = -1;
  /** Comments no deeper than the dash, with nothing but blank lines after them, belong to no item. */
  let trailing = -1;
  let at = from;
  for (; at < text.length; at = nextLine(text, at)) {
    const line = lineAt(text, at);
    if (line.kind === 'blank') continue;
    if (line.kind === 'comment') {
      if (line.indent <= column && trailing < 0) trailing = at;
    } else if (column >= 0 && line.indent > column) {
      trailing = -1;
    } else if (line.kind === 'item' && (column < 0 || line.indent === column)) {
      if (start >= 0) ranges.push({ start, end: trailing < 0 ? at : trailing });
      column = line.indent;
      start = at;
      trailing = -1;
    } else if (line.indent === 0 && column >= 0) {
      break;
    } else {
      return undefined;
    }
  }
  if (start >= 0) ranges.push({ start, end: trailing < 0 ? at : trailing });
  return ranges;
}

interface Line {
  readonly kind: 'blank' | 'comment' | 'item' | 'content';
  readonly indent: number;
}

const LF = 10, CR = 13, SPACE = 32, HASH = 35, DASH = 45; // oxfmt-ignore

function lineAt(text: string, start: number): Line {
  let at = start;
  while (text.charCodeAt(at) === SPACE) at += 1;
  const indent = at - start;
  if (isBreak(text, at)) return { kind: 'blank', indent };
  const character = text.charCodeAt(at);
  if (character === HASH) return { kind: 'comment', indent };
  const isItem = character === DASH && (text.charCodeAt(at + 1) === SPACE || isBreak(text, at + 1));
  return { kind: isItem ? 'item' : 'content', indent };
}

function isBreak(text: string, at: number): boolean {
  const character = text.charCodeAt(at);
  return at >= text.length || character === LF || character === CR;
}

function nextLine(text: string, at: number): number {
  const lineBreak = text.indexOf('\n', at);
  return lineBreak < 0 ? text.length : lineBreak + 1;
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
