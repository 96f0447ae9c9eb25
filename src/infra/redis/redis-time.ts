// RedisTime: what time it is at Redis, as it last said, and until when a script that is sent now is worth running there.

export class RedisTime {
  readonly #patienceMs: number;
  /** Of Redis less the monotonic clock here; undefined until it has said something. */
  #aheadMs: number | undefined;

  /** How long a sender waits for its answer, at most. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** Redis said its time in answer to what was sent then, by the monotonic clock: it is as late as that there, or later. */
  heard(redisMs: number, sentAt: number): void {
    this.#aheadMs = redisMs - sentAt;
  }

  /** By the time of Redis; 0 where that is not known yet. */
  worthUntil(): number {
    return this.#aheadMs === undefined ? 0 : Math.ceil(performance.now() + this.#aheadMs + this.#patienceMs);
  }
}
