// What becomes of an object that a model wrote: whole, with what was mended, or broken off.

/** What was put right. All but `comment` and `trailing_comma` are other languages' spellings of the same value. */
export type MendKind =
  | 'comment'
  | 'trailing_comma'
  | 'single_quotes'
  | 'unquoted_name'
  | 'python_literal'
  | 'line_break_in_text';

export interface Mend {
  readonly kind: MendKind;
  /** In UTF-16 units from the start of the whole text, as every place here. */
  readonly at: number;
}

export interface MendedObject {
  readonly whole: true;
  /** Behind its closing brace. */
  readonly end: number;
  /** The object as JSON. Names that stand twice, and the limits of strict JSON, are the reader's business. */
  readonly json: string;
  readonly mends: readonly Mend[];
}

export interface BrokenObject {
  readonly whole: false;
  /** Where it stops making sense; the end of the text where it is cut off. */
  readonly at: number;
  readonly expected: string;
  /** Levels that are open there. */
  readonly depth: number;
  /** Names of its own members that were read before. */
  readonly names: readonly string[];
  /** Whether a text was among its values: where quotes are missing, what follows may be more of that text. */
  readonly hasText: boolean;
}

/** A piece of the text, and what is written in its place. */
export interface Edit {
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

/** The text from one place to another, with its edits made. They do not overlap. */
export function edited(text: string, start: number, end: number, edits: readonly Edit[]): string {
  let written = '';
  let from = start;
  for (const edit of edits.toSorted((one, other) => one.at - other.at)) {
    written += text.slice(from, edit.at) + edit.text;
    from = edit.end;
  }
  return written + text.slice(from, end);
}
