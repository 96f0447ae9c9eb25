// WriteTurns: writes that the database lets through one by one take turns here, so that those which wait hold no connection.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';

const MOST_WAITING = 200;
/** Whoever has waited longer is refused at its turn: the database is slow, and more would only make it slower. */
const PATIENCE_MS = 2_000;
const RETRY_AFTER_MS = 1_000;

export class WriteTurns {
  readonly #now: () => number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Throws ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE) where too many wait, or this one has waited too long. */
  run<Result>(write: () => Promise<Result>): Promise<Result> {
    if (this.#waiting >= MOST_WAITING) return Promise.reject(busy());
    const askedAt = this.#now();
    this.#waiting += 1;
    const done = this.#last.then(() => {
      this.#waiting -= 1;
      if (this.#now() - askedAt > PATIENCE_MS) throw busy();
      return write();
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function busy(): ToolFailure {
  return toolFailure('DATABASE_UNAVAILABLE', 'Too many changes of this kind wait for the database now.', {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
