// Deadline: how long the caller waits in all, over every try, and the signal that ends it.
import { DeadlineError } from '../errors/gateway-error.ts';

/** The gateway ends a call itself in time; its answer needs a moment to arrive. */
const ANSWER_MS = 1_000;

export class Deadline {
  readonly signal: AbortSignal;
  readonly #timeoutMs: number;
  readonly #endsAt: number;
  readonly #caller: AbortSignal | undefined;

  /** `timeoutMs` may be Infinity. */
  constructor(timeoutMs: number, caller?: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#caller = caller;
    this.#endsAt = performance.now() + timeoutMs;
    const own = Number.isFinite(timeoutMs)
      ? [AbortSignal.timeout(Math.min(timeoutMs + ANSWER_MS, 2 ** 31 - 1))]
      : [];
    this.signal = AbortSignal.any([...own, ...(caller === undefined ? [] : [caller])]);
  }

  get leftMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Rejects with what the caller's signal says, or with DeadlineError. */
  throwIfOver(cause?: unknown): void {
    this.#caller?.throwIfAborted();
    if (this.signal.aborted || this.leftMs <= 0) throw new DeadlineError(this.#timeoutMs, cause);
  }

  /** As `throwIfOver` where somebody else kept this time: their clock may be a moment ahead. */
  throwAsOver(cause: unknown): never {
    this.#caller?.throwIfAborted();
    throw new DeadlineError(this.#timeoutMs, cause);
  }

  /** Resolves after so long; `cause` goes along where the time does not suffice. */
  async pause(ms: number, cause?: unknown): Promise<void> {
    if (ms >= this.leftMs) throw cause ?? new DeadlineError(this.#timeoutMs);
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      if (this.signal.aborted) done();
      else this.signal.addEventListener('abort', done, { once: true });
    });
    this.throwIfOver(cause);
  }
}
