// CallQueue: tells a replica that has capacity of a waiting call. The rows are the truth and the order; this only wakes.

/** Gives whether there was capacity. `passedOn`: by a replica that has none, for this call and perhaps for many more. */
export type CallListener = (id: string, passedOn: boolean) => boolean;

export interface CallQueue {
  /** Announces a call that waits: to this replica, or, where that has no capacity, to the others. What is lost here is found among the rows. */
  offer(id: string): void;
  /** The same, to the others alone. */
  pass(id: string): void;
  /** Begins to announce calls. After a no, none is announced before `listen`. */
  start(listener: CallListener): void;
  /** There is capacity here, and nothing is known to wait. */
  listen(): void;
  /** Announces no more. */
  stop(): void;
  /** After the last run has ended. */
  close(): Promise<void>;
}
