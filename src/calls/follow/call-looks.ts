// CallLooks: what those read who ask for calls and follow them: few at once, and those of one call that wait for their turn read it once.
import { SharedTurns } from '../../lib/concurrency/shared-turns.ts';
import type { CallStore } from '../../ports/calls/call-store.ts';

export type CallReads = Pick<CallStore, 'get' | 'events'>;

/** One of them is for tenants that have none under way. */
const MOST_AT_ONCE = 10;
/** A hint that is lost costs so much time, while few follow calls. */
const LOOK_AGAIN_MS = 1_000;
/** Looks in a second, of all followers of this replica. */
const MOST_LOOKS = 100;

export class CallLooks {
  readonly #store: CallReads;
  readonly #turns = new SharedTurns(MOST_AT_ONCE);
  /** Not begun yet: what changes meanwhile is in what they will read. */
  readonly #waiting = new Map<string, Promise<unknown>>();
  #followers = 0;

  constructor(store: CallReads) {
    this.#store = store;
  }

  /** By one tenant. */
  of(tenantId: string): CallReads {
    return {
      get: (of, id) => this.#shared(tenantId, `${of} ${id}`, () => this.#store.get(of, id)),
      events: (id, seq, limit) =>
        this.#shared(tenantId, `${tenantId} ${id} ${seq} ${limit}`, () => this.#store.events(id, seq, limit)),
    };
  }

  /** Of so many calls. What ends it, once. */
  follows(calls = 1): () => void {
    this.#followers += calls;
    let isThere = true;
    return () => {
      if (isThere) this.#followers -= calls;
      isThere = false;
    };
  }

  /** Until somebody who follows looks again without having heard of news. */
  get againMs(): number {
    return LOOK_AGAIN_MS * Math.max(1, this.#followers / MOST_LOOKS);
  }

  #shared<Read>(tenantId: string, key: string, read: () => Promise<Read>): Promise<Read> {
    const waiting = this.#waiting.get(key) as Promise<Read> | undefined;
    if (waiting !== undefined) return waiting;
    let hasBegun = false;
    const turn = this.#turns.run(tenantId, () => {
      hasBegun = true;
      this.#waiting.delete(key);
      return read();
    });
    if (!hasBegun) this.#waiting.set(key, turn);
    return turn;
  }
}
