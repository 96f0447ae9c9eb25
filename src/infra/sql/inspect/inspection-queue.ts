// Inspections of one database, a few at a time: a load brings all statements at once, and a pool gives up on who waits long.
import { ToolFailure } from '../../../contract/call/tool-failure.ts';

interface Waiting {
  readonly start: () => void;
  readonly refuse: (failure: ToolFailure) => void;
}

export class InspectionQueue {
  readonly #slots: number;
  #running = 0;
  readonly #waiting: Waiting[] = [];

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Who waits while the server is found not to answer is refused with what was found: nobody waits for that again. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#slots) {
      // Whoever ends hands its slot on.
      await new Promise<void>((start, refuse) => this.#waiting.push({ start, refuse }));
    } else this.#running += 1;
    try {
      return await work();
    } catch (error) {
      if (error instanceof ToolFailure && error.type === 'UNAVAILABLE')
        for (const { refuse } of this.#waiting.splice(0)) refuse(error);
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next.start();
    }
  }
}
