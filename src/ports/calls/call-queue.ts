// CallQueue: brings word of a waiting call to a replica that has room. The rows are the truth and the order; this only wakes.

/** Says whether there was room. `passedOn`: by a replica that has none, for this call and perhaps for many more. */
export type HearOfCall = (id: string, passedOn: boolean) => boolean;

export interface CallQueue {
  /** Says that a call waits: to this replica, or, where that has no room, to the others. What is lost here is found among the rows. */
  offer(id: string): void;
  /** The same, to the others alone. */
  pass(id: string): void;
  /** Begins to bring word. After a no, none is brought before `listen`. */
  start(hear: HearOfCall): void;
  /** There is room here, and nothing known to wait. */
  listen(): void;
  /** Brings no more. */
  stop(): void;
  /** After the last run has ended. */
  close(): Promise<void>;
}
