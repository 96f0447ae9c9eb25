// StreamParking: streams that nobody is connected to, for whichever replica their clients come to next. Failure policy: continue; a
// stream that cannot be handed over goes on where it is, or not at all.

/** What another replica wants of this one. */
export interface ParkingRequests {
  /** The client of a stream has come to another replica. True: it is here, and will be parked. */
  wanted(key: string): boolean;
  /** Another stream, `by`, has begun on the session. */
  replaced(sessionId: string, by: string): void;
}

/** `key`: what only the client of a stream can lead to. */
export interface StreamParking {
  /** Kept for `lifeMs`; `state` is JSON text. May reject. */
  park(key: string, state: string, lifeMs: number): Promise<void>;
  /**
   * The state of a parked stream, once. Asks the other replicas for it where it is not parked, and waits for one that has it,
   * `withinMs` at most. Undefined: nobody has it. May reject.
   */
  take(key: string, withinMs: number): Promise<string | undefined>;
  /** Tells the other replicas. Never throws. */
  replace(sessionId: string, by: string): void;
  /** The returned function ends it. */
  serve(requests: ParkingRequests): () => void;
}
