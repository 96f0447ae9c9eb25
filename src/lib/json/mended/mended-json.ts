// JSON as models write it: one object in the middle of a text, with the slips that have one meaning alone put right.
// What is cut off, or could be meant in two ways, is broken and stays so.
import {
  asJsonText,
  endOf,
  endOfString,
  FOREIGN_SPACE,
  isInk,
  LINE_BREAKS,
  LINE_COMMENT,
  NAME,
  NUMBER,
  PYTHON,
  SPACE,
  WORD,
} from './tokens.ts';
import {
  edited,
  type BrokenObject,
  type Edit,
  type Mend,
  type MendedObject,
  type MendKind,
} from './mended-object.ts';

type Expected = 'a name' | 'a name or }' | ':' | 'a value' | 'a value or ]' | ', or }' | ', or ]';

/** Levels of objects and arrays that are followed. */
const DEEPEST = 32;
/** A text in which objects are looked for. */
export class MendableText {
  readonly text: string;
  /** Behind it no comment ends, and none is looked for again. */
  readonly lastCommentEnd: number;

  constructor(text: string) {
    this.text = text;
    this.lastCommentEnd = text.lastIndexOf('*/');
  }

  /** `start` is the place of a `{`. The text is gone through once, from there to where the object ends or breaks off. */
  objectAt(start: number): MendedObject | BrokenObject {
    return new ObjectReader(this, start).read();
  }
}

class ObjectReader {
  readonly #text: string;
  readonly #lastCommentEnd: number;
  readonly #start: number;
  readonly #edits: Edit[] = [];
  readonly #mends: Mend[] = [];
  readonly #open: ('{' | '[')[] = [];
  readonly #names: string[] = [];
  #at: number;
  #hasText = false;
  #expected: Expected = 'a value';
  /** Of a comma that nothing stands behind yet. */
  #comma: number | undefined;

  constructor({ text, lastCommentEnd }: MendableText, start: number) {
    this.#text = text;
    this.#lastCommentEnd = lastCommentEnd;
    this.#start = start;
    this.#at = start;
  }

  read(): MendedObject | BrokenObject {
    do {
      if (!this.#skipSpace() || !this.#step()) return this.#broken();
    } while (this.#open.length > 0);
    return { whole: true, end: this.#at, json: this.#written(), mends: this.#mends };
  }

  #broken(): BrokenObject {
    const depth = this.#open.length;
    const expected = depth > DEEPEST ? `at most ${DEEPEST} levels` : this.#expected;
    return { whole: false, at: this.#at, expected, depth, names: this.#names, hasText: this.#hasText };
  }

  /** False: a comment has no end. */
  #skipSpace(): boolean {
    for (;;) {
      if (isInk(this.#text.charCodeAt(this.#at))) return true;
      this.#plainSpace();
      const end = this.#endOfComment();
      if (end === undefined) return true;
      if (end < 0) return false;
      this.#mend('comment', end, '');
    }
  }

  /** Spaces that JSON does not know are written as one that it does. */
  #plainSpace(): void {
    const from = this.#at;
    this.#at = endOf(SPACE, this.#text, from);
    if (FOREIGN_SPACE.test(this.#text.slice(from, this.#at)))
      this.#edits.push({ at: from, end: this.#at, text: ' ' });
  }

  /** Undefined: there is none; below 0: it has no end. */
  #endOfComment(): number | undefined {
    const text = this.#text;
    if (text.startsWith('/*', this.#at)) {
      if (this.#at + 2 > this.#lastCommentEnd) return -1;
      return text.indexOf('*/', this.#at + 2) + 2;
    }
    const end = endOf(LINE_COMMENT, text, this.#at);
    return end === this.#at ? undefined : end;
  }

  /** One token. False: it may not stand here. */
  #step(): boolean {
    const found = this.#text[this.#at];
    if (found === undefined) return false;
    const expected = this.#expected;
    if (expected === ':') return found === ':' && this.#pass('a value');
    if (expected === ', or }' || expected === ', or ]') {
      return found === ',' ? this.#separate() : this.#close(found);
    }
    const isName = expected === 'a name' || expected === 'a name or }';
    if (this.#closesHere(found, isName ? '}' : ']')) return this.#close(found);
    return isName ? this.#name(found) : this.#value(found);
  }

  /** A closing bracket in place of the next member: at once, or behind a comma too many. */
  #closesHere(found: string, bracket: string): boolean {
    if (found !== bracket) return false;
    return this.#expected.endsWith(bracket) || this.#comma !== undefined;
  }

  #separate(): boolean {
    this.#comma = this.#at;
    return this.#pass(this.#open.at(-1) === '{' ? 'a name' : 'a value');
  }

  #close(found: string): boolean {
    if (found !== (this.#open.at(-1) === '{' ? '}' : ']')) return false;
    if (this.#comma !== undefined) {
      this.#edits.push({ at: this.#comma, end: this.#comma + 1, text: '' });
      this.#mends.push({ kind: 'trailing_comma', at: this.#comma });
      this.#comma = undefined;
    }
    this.#open.pop();
    return this.#pass(this.#afterMember());
  }

  #name(found: string): boolean {
    this.#comma = undefined;
    const from = this.#at;
    if (found === '"' || found === "'") {
      if (!this.#string(found)) return false;
      // Not a name, but prose between a quote and the next one.
      if (this.#text.slice(from, this.#at).includes('\n')) return this.#backTo(from);
    } else {
      const end = endOf(NAME, this.#text, from);
      if (end === from) return false;
      this.#mend('unquoted_name', end, JSON.stringify(this.#text.slice(from, end)));
    }
    if (this.#open.length === 1) this.#names.push(this.#text.slice(from, this.#at).replaceAll(/["']/g, ''));
    this.#expected = ':';
    return true;
  }

  #value(found: string): boolean {
    this.#comma = undefined;
    if (found === '{' || found === '[') {
      this.#open.push(found);
      if (this.#open.length > DEEPEST) return false;
      return this.#pass(found === '{' ? 'a name or }' : 'a value or ]');
    }
    if (!this.#scalar(found)) return false;
    this.#expected = this.#afterMember();
    return true;
  }

  #scalar(found: string): boolean {
    if (found === '"' || found === "'") {
      this.#hasText = true;
      return this.#string(found);
    }
    if (found === '-' || (found >= '0' && found <= '9')) {
      const end = endOf(NUMBER, this.#text, this.#at);
      if (end === this.#at) return false;
      this.#at = end;
      return true;
    }
    const end = endOf(WORD, this.#text, this.#at);
    if (end === this.#at) return false;
    const python = PYTHON[this.#text.slice(this.#at, end)];
    if (python === undefined) this.#at = end;
    else this.#mend('python_literal', end, python);
    return true;
  }

  /** False: it has no end. */
  #string(quote: string): boolean {
    const from = this.#at;
    const end = endOfString(this.#text, from, quote);
    if (end === undefined) {
      this.#at = this.#text.length;
      return false;
    }
    const inside = this.#text.slice(from + 1, end - 1);
    if (quote === "'") this.#mend('single_quotes', end, `"${asJsonText(inside)}"`);
    else if (LINE_BREAKS.test(inside)) this.#mend('line_break_in_text', end, `"${asJsonText(inside)}"`);
    else this.#at = end;
    return true;
  }

  #backTo(at: number): false {
    this.#at = at;
    return false;
  }

  #afterMember(): Expected {
    return this.#open.at(-1) === '[' ? ', or ]' : ', or }';
  }

  #pass(next: Expected): true {
    this.#at += 1;
    this.#expected = next;
    return true;
  }

  #mend(kind: MendKind, end: number, text: string): void {
    this.#edits.push({ at: this.#at, end, text });
    this.#mends.push({ kind, at: this.#at });
    this.#at = end;
  }

  #written(): string {
    // A comma that was one too many is found behind comments that follow it: edits are not in order.
    return edited(this.#text, this.#start, this.#at, this.#edits);
  }
}
