// Where a character of a text stands, as people count: lines and columns from 1.

export class TextPlaces {
  readonly #text: string;
  /** Where each line begins; made when it is first asked for. */
  #lines: readonly number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** `at`: in UTF-16 units from 0, as columns are counted too. */
  of(at: number): { readonly line: number; readonly column: number } {
    this.#lines ??= beginnings(this.#text);
    let low = 0;
    let high = this.#lines.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle] ?? Infinity) <= at) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: at - (this.#lines[low] ?? 0) + 1 };
  }
}

function beginnings(text: string): readonly number[] {
  const found = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) found.push(at + 1);
  return found;
}
