// PacedStarts: of calls that arrive together, only as many begin in one turn of the event loop as do not hold it.

/** Arguments that are shorter are read in no time. */
const FEW_BYTES = 512;
/** Of arguments that are read in one turn: some ten milliseconds for the dearest. */
const MOST_BYTES = 64 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

export class PacedStarts {
  /** Begun in this turn. */
  #bytes = 0;
  readonly #waiting: Waiting[] = [];

  /** At once where it comes alone, or brings little; else after those that came before it. `begin` does not throw. */
  run<Result>(bytes: number, begin: () => Promise<Result>): Promise<Result> {
    if (bytes < FEW_BYTES) return begin();
    if (this.#bytes === 0) setImmediate(this.#startNext);
    if (this.#bytes < MOST_BYTES && this.#waiting.length === 0) {
      this.#bytes += bytes;
      return begin();
    }
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, begin: () => resolve(begin()) });
    });
  }

  readonly #startNext = (): void => {
    this.#bytes = 0;
    while (this.#bytes < MOST_BYTES) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#bytes += next.bytes;
      next.begin();
    }
    if (this.#bytes > 0) setImmediate(this.#startNext);
  };
}
