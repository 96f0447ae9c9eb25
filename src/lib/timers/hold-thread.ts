// A sleep that holds the thread: for what must be over before anything else runs, where no event loop may turn meanwhile.

/** Nothing else runs on this thread until then: no timer, no answer to anybody. */
export function holdThread(ms: number): void {
  // Nobody else knows of this memory: nothing but the time ends the wait.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
