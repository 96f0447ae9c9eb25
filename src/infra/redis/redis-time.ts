// RedisTime: what time it is at Redis, as it last said, and until when a script that is sent now is worth running there.

export class RedisTime {
  readonly #waitMs: number;
  /** Of Redis less the monotonic clock here; undefined until it has said something. */
  #aheadMs: number | undefined;

  /** How long a sender waits for its answer, at most. */
  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /** The time that Redis gave in its answer to what was sent at `sentAt`, by the monotonic clock: there it is as late as that, or later. */
  observe(redisMs: number, sentAt: number): void {
    this.#aheadMs = redisMs - sentAt;
  }

  /** By the time of Redis; 0 where that is not known yet. */
  worthUntil(): number {
    return this.#aheadMs === undefined ? 0 : Math.ceil(performance.now() + this.#aheadMs + this.#waitMs);
  }
}
