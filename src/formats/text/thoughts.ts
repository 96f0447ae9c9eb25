// What a model thinks before it answers, where its text holds that too: drafts of calls, which nobody asked for.

/** As templates of models write it: `<think>`, Seed's `<seed:think>`, Magistral's `[THINK]`, Cohere's, and the channel of gpt-oss. */
const WORDS = '(?:seed:)?(?:think|thinking|reasoning)';
const CLOSING = String.raw`<\/${WORDS}>|\[\/THINK\]|<\|END_THINKING\|>`;
const CHANNEL = String.raw`<\|channel\|>analysis<\|message\|>`;
const MARK = new RegExp(
  String.raw`^[ \t]*(?:<${WORDS}>|\[THINK\]|<\|START_THINKING\|>)|${CHANNEL}|(${CLOSING})`,
  'gim',
);
const END = new RegExp(CLOSING, 'gi');
const CHANNEL_END = /<\|(?:end|return|start)\|>/g;

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
    const { 0: mark, 1: closing, index } = this.#next;
    const fromStart = closing !== undefined && this.#isFirst;
    this.#isFirst = false;
    return {
      end:
        closing === undefined
          ? this.#endOf(index, mark.startsWith('<|channel') ? CHANNEL_END : END)
          : index + mark.length,
      fromStart,
    };
  }

  /** To the end of the text where it is not closed. */
  #endOf(start: number, closing: RegExp): number {
    closing.lastIndex = start;
    const found = closing.exec(this.#text);
    return found === null ? this.#text.length : found.index + found[0].length;
  }
}
