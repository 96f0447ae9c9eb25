// RequestQueue: so many requests at the same time, so many that wait for their turn, in the order they came, and no more.

export interface Slot {
  /** Resolves when the request may be made. */
  readonly turn: Promise<void>;
  /** Once, when it is over. */
  leave(): void;
}

export class RequestQueue {
  readonly #atOnce: number;
  readonly #mostWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnce: number, mostWaiting: number) {
    this.#atOnce = atOnce;
    this.#mostWaiting = mostWaiting;
  }

  /** Undefined: too many wait already. */
  enter(): Slot | undefined {
    const leave = () => this.#leave();
    if (this.#running < this.#atOnce) {
      this.#running += 1;
      return { turn: Promise.resolve(), leave };
    }
    if (this.#waiting.length >= this.#mostWaiting) return undefined;
    return { turn: new Promise((go) => this.#waiting.push(go)), leave };
  }

  /** The slot goes to whoever waits the longest. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
