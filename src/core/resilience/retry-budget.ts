// RetryBudget: the token bucket of gRFC A6. When too much fails, retries stop before they become the load.

export interface RetryBudgetOptions {
  readonly maxTokens?: number;
  /** What a success gives back, in tokens. */
  readonly ratio?: number;
}

/** Tokens are counted in thousandths, as the gRFC says: sums stay exact. */
const UNITS_PER_TOKEN = 1000;

/** Keeps no time: what a failure takes, only successes bring back. */
export class RetryBudget {
  readonly #max: number;
  readonly #gain: number;
  #units: number;

  constructor({ maxTokens = 10, ratio = 0.1 }: RetryBudgetOptions = {}) {
    this.#max = Math.round(maxTokens * UNITS_PER_TOKEN);
    this.#gain = Math.round(ratio * UNITS_PER_TOKEN);
    this.#units = this.#max;
  }

  succeeded(): void {
    this.#units = Math.min(this.#max, this.#units + this.#gain);
  }

  /** Takes a token; true while more than half of them are left: the failed attempt may be followed by another. */
  failed(): boolean {
    this.#units = Math.max(0, this.#units - UNITS_PER_TOKEN);
    return this.#units > this.#max / 2;
  }

  get tokens(): number {
    return this.#units / UNITS_PER_TOKEN;
  }
}
