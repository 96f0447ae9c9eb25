// How long to wait before the next try: longer after each failure, up to a limit, and never all at the same moment.

export interface Backoff {
  readonly firstMs: number;
  readonly lastMs: number;
  /** What each failure in a row multiplies the wait with; 2 where it is left out. */
  readonly growth?: number;
  /** The least share of the wait that is kept, the rest being up to chance; 0 where it is left out: full jitter. */
  readonly least?: number;
}

/** In milliseconds. `failures`: how many came before the one that is waited after, 0 at the first. */
export function backoffMs(
  { firstMs, lastMs, growth = 2, least = 0 }: Backoff,
  failures: number,
  random: () => number,
): number {
  return Math.min(lastMs, firstMs * growth ** failures) * (least + random() * (1 - least));
}
