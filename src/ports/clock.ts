// Clock: time as the gateway sees it, so that tests can hold it still.

export interface Clock {
  /**
   * Milliseconds on a scale that never goes back and never jumps, whatever is done to the machine's clock: for
   * durations, deadlines and everything else that is measured. Epoch milliseconds until somebody sets that clock.
   */
  now(): number;
  /**
   * Epoch milliseconds by the machine's clock, now or at a moment of `now()`: for dates that are shown, stored or
   * compared with other dates. Goes back when that clock is set back.
   */
  wall(moment?: number): number;
  /** Runs `task` once after `ms`; the returned function calls it off. Does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
}
