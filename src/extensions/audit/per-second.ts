// PerSecond: so many of something in each second, and no more.

export class PerSecond {
  #second = 0;
  #taken = 0;

  /** False: this second has had `most` already. */
  takes(most: number, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) [this.#second, this.#taken] = [second, 0];
    this.#taken += 1;
    return this.#taken <= most;
  }
}
