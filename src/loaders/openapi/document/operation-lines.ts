// The line of each operation in the text of the document: one pass, without a second parse.
import type { Operation } from './list-operations.ts';

/** In the order of the operations; undefined where the key is not found as such, as for what references lead to. */
export function operationLines(
  text: string,
  operations: readonly Operation[],
): readonly (number | undefined)[] {
  const finder = new LineFinder(text);
  const paths = new Map<string, number | undefined>();
  const start = finder.keyAfter('paths', 0) ?? 0;
  let from = start;
  return operations.map(({ path, method }) => {
    if (!paths.has(path)) {
      const at = finder.keyAfter(path, from);
      paths.set(path, at);
      from = at ?? from;
    }
    const at = paths.get(path);
    if (at === undefined) return undefined;
    return finder.lineOf(finder.keyAfter(method.toLowerCase(), at + path.length) ?? at);
  });
}

/** A key has a quote or the indentation before it, and a colon after it. */
const BEFORE_KEY = /[\s"'{,]/;
const AFTER_KEY = /["']?\s*:/y;
const MOST_TRIES = 200;

class LineFinder {
  readonly #text: string;
  /** Where the last line that was asked for begins, and its number. */
  #lineStart = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  keyAfter(key: string, from: number): number | undefined {
    let at = this.#text.indexOf(key, from);
    for (let tries = 0; at >= 0 && tries < MOST_TRIES; tries += 1) {
      AFTER_KEY.lastIndex = at + key.length;
      if (BEFORE_KEY.test(this.#text[at - 1] ?? ' ') && AFTER_KEY.test(this.#text)) return at;
      at = this.#text.indexOf(key, at + 1);
    }
    return undefined;
  }

  lineOf(offset: number): number {
    if (offset < this.#lineStart) {
      this.#lineStart = 0;
      this.#line = 1;
    }
    for (;;) {
      const end = this.#text.indexOf('\n', this.#lineStart);
      if (end < 0 || end >= offset) return this.#line;
      this.#lineStart = end + 1;
      this.#line += 1;
    }
  }
}
