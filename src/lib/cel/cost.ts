// What one evaluation of an expression can cost at most, known at load but for the size of what it looks at.

/** Steps that one decision may take: some 10 ms. */
export const MOST_STEPS = 15_000;
/** Values, and characters, that are compared or measured in the time of one step. */
const VALUES_A_STEP = 4;
const CHARACTERS_A_STEP = 25;

export interface InputSize {
  /** All of them, the members of lists and objects among them. */
  readonly values: number;
  readonly characters: number;
  /** Members of the list or object that has the most. */
  readonly largest: number;
  /** Characters of the longest text. */
  readonly longest: number;
}

export class Cost {
  /** By the number of comprehensions around them. */
  readonly #steps: number[] = [0];
  readonly #texts: number[] = [];
  readonly #wholes: number[] = [];
  #joins = 1;

  step(depth: number): void {
    addAt(this.#steps, depth);
  }

  /** A step that goes through one text. */
  text(depth: number): void {
    addAt(this.#texts, depth);
  }

  /** A step that may go through everything. */
  whole(depth: number): void {
    addAt(this.#wholes, depth);
  }

  /** What is joined is as large as its parts together. */
  join(): void {
    this.#joins += 1;
  }

  /** Undefined: it depends on how large the input is. */
  get fixed(): number | undefined {
    const depends = this.#steps.length > 1 || this.#texts.length > 0 || this.#wholes.length > 0;
    return depends ? undefined : this.#steps[0];
  }

  of({ values, characters, largest, longest }: InputSize): number {
    const text = (this.#joins * longest) / CHARACTERS_A_STEP;
    const whole = this.#joins * (values / VALUES_A_STEP + characters / CHARACTERS_A_STEP);
    // A list that stands in the expression has no more items than the expression has parts.
    const items = Math.max(this.#joins * largest, this.#steps[0] ?? 0);
    let total = 0;
    for (const [depth, steps] of this.#steps.entries()) {
      const each = steps + (this.#texts[depth] ?? 0) * text + (this.#wholes[depth] ?? 0) * whole;
      total += items ** depth * each;
    }
    return total;
  }
}

function addAt(counts: number[], depth: number): void {
  counts[depth] = (counts[depth] ?? 0) + 1;
}
