// CallQueue: brings word of a waiting call to a replica that has room. The rows are the truth and the order; this only wakes.

export interface CallQueue {
  /** Says that a call waits: to this replica, or, where that has no room, to the others. What is lost here is found among the rows. */
  offer(id: string): void;
  /** The same, to the others alone. */
  pass(id: string): void;
  /** Begins to bring word. `hear` says whether there was room; after a no, none is brought before `listen`. */
  start(hear: (id: string) => boolean): void;
  /** There is room here, and nothing known to wait. */
  listen(): void;
  /** Brings no more. */
  stop(): void;
  /** After the last run has ended. */
  close(): Promise<void>;
}
