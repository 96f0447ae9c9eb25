// What timed work asks of a clock; the gateway's Clock is one.

export interface Timers {
  /** Runs `task` once after `ms`; the returned function calls it off. */
  after(ms: number, task: () => void): () => void;
}
