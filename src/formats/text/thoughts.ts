// What a model thinks before it answers, where its text holds that too: drafts of calls, which nobody asked for.

const MARK = /(?:^[ \t]*<|<(\/))(?:think|thinking|reasoning)>/gim;
const END = /<\/(?:think|thinking|reasoning)>/gi;

export interface Thought {
  /** Behind it. */
  readonly end: number;
  /** True where it goes back to the beginning of the text: many templates begin it before the model writes. */
  readonly fromStart: boolean;
}

/**
 * The marks of thoughts in a text. A mark inside an object is text of an argument, maybe of a page that the model has read,
 * and means nothing: so they are asked for between objects alone.
 */
export class Thoughts {
  readonly #text: string;
  #next: RegExpExecArray | null | undefined;
  #isFirst = true;

  constructor(text: string) {
    this.#text = text;
  }

  /** The first that begins, or is over, from one place on and before another. Places only grow from call to call. */
  between(from: number, to: number): Thought | undefined {
    if (this.#next === undefined || (this.#next !== null && this.#next.index < from)) {
      MARK.lastIndex = from;
      this.#next = MARK.exec(this.#text);
    }
    if (this.#next === null || this.#next.index >= to) return undefined;
    const { 0: mark, 1: slash, index } = this.#next;
    const fromStart = slash !== undefined && this.#isFirst;
    this.#isFirst = false;
    return { end: slash === undefined ? this.#endOf(index) : index + mark.length, fromStart };
  }

  /** To the end of the text where it is not closed. */
  #endOf(start: number): number {
    END.lastIndex = start;
    const found = END.exec(this.#text);
    return found === null ? this.#text.length : found.index + found[0].length;
  }
}
