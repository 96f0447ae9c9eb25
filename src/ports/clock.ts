// Clock: time as the gateway sees it, so that tests can hold it still.

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `task` once after `ms`; the returned function calls it off. Does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
}
