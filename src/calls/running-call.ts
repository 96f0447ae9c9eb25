// RunningCall: a call that this replica has claimed: its lease, its one signal, and why it was stopped.
import type { ClaimedCall } from '../ports/calls/call-store.ts';

export class RunningCall {
  readonly call: ClaimedCall;
  readonly #stop = new AbortController();
  /** When its lease was last known to be good, on the monotonic clock. */
  renewedAt = performance.now();
  /** Another replica may run it by now: nothing is written for it here any more. */
  lost = false;
  /** Its end is being written: a renewal that no longer finds it says nothing. */
  ending = false;

  constructor(call: ClaimedCall) {
    this.call = call;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether it may be run a second time without a second effect. */
  get mayRunTwice(): boolean {
    return this.call.idempotent || this.call.readOnly;
  }

  cancel(): void {
    this.#stop.abort();
  }

  lose(): void {
    this.lost = true;
    this.#stop.abort();
  }
}
