// SkipTable: where a search for any of many texts may go on without a look at each unit of what is searched (Wu and Manber).
// The last pair of units of a window as long as the shortest text says how far away the next window may begin.

const PAIRS = 1 << 12;
/** Further than this is not gone at once, however long the texts are. */
const MOST_WINDOW = 64;
/** Looking at pairs is no faster than looking at units where there are more texts, or such a short one. */
const MOST_TEXTS = 500;
const LEAST_WINDOW = 6;
const TEXTS_PER_SLICE = 64;

export class SkipTable {
  /** In units. */
  readonly #window: number;
  /** By pair: how much further the window has to be for this pair, or one that shares its place in the table, to be its last. */
  readonly #skips: Uint8Array;

  private constructor(window: number) {
    this.#window = window;
    this.#skips = new Uint8Array(PAIRS).fill(window - 1);
  }

  /** Undefined where it would not pay. Gives way after some of the texts. */
  static *of(texts: ReadonlySet<string>): Generator<void, SkipTable | undefined> {
    if (texts.size > MOST_TEXTS) return undefined;
    let window = MOST_WINDOW;
    for (const text of texts) window = Math.min(window, text.length);
    if (window < LEAST_WINDOW) return undefined;
    const table = new SkipTable(window);
    let count = 0;
    for (const text of texts) {
      table.#add(text);
      count += 1;
      if (count % TEXTS_PER_SLICE === 0) yield;
    }
    return table;
  }

  /** The first place from there on where one of the texts may begin; the length of `text` or more if none does. */
  next(text: string, from: number): number {
    const window = this.#window;
    const skips = this.#skips;
    let last = from + window - 1;
    while (last < text.length) {
      const skip = skips[pairOf(text.charCodeAt(last - 1), text.charCodeAt(last))] as number;
      if (skip === 0) return last - window + 1;
      last += skip;
    }
    return text.length;
  }

  #add(text: string): void {
    for (let at = 1; at < this.#window; at += 1) {
      const pair = pairOf(text.charCodeAt(at - 1), text.charCodeAt(at));
      this.#skips[pair] = Math.min(this.#skips[pair] as number, this.#window - 1 - at);
    }
  }
}

function pairOf(first: number, second: number): number {
  return (first * 89 + second) & (PAIRS - 1);
}
