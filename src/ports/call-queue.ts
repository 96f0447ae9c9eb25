// CallQueue: brings the ids of waiting calls to a replica that has room for them. The rows are the truth; this only wakes.
import type { WaitingCall } from './call-store.ts';

export interface CallQueue {
  /** Says that a call waits. Never rejects: what is lost here is found again among the rows. */
  offer(call: WaitingCall): Promise<void>;
  /**
   * Begins to hand out ids, `concurrency` at most at once; each may come more than once. `run` never rejects; false: the
   * call was not to be had.
   */
  start(run: (id: string) => Promise<boolean>, concurrency: number): void;
  /** Hands out no more. Those handed out go on. */
  stop(): void;
  /** After the last run has ended. */
  close(): Promise<void>;
}
