// OutcomeWindow: how many calls there were in the last half minute, and how many of them failed.

const SLOTS = 10;

interface Slot {
  /** Number of the time slice that is counted here. */
  slice: number;
  calls: number;
  failures: number;
}

/** Counts per slice of time, so that it costs the same for any number of calls. Slices of another time count nothing. */
export class OutcomeWindow {
  readonly #sliceMs: number;
  readonly #slots: readonly Slot[];

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLOTS;
    this.#slots = Array.from({ length: SLOTS }, () => ({ slice: -1, calls: 0, failures: 0 }));
  }

  add(now: number, failed: boolean): void {
    const slice = Math.floor(now / this.#sliceMs);
    const slot = this.#slots[slice % SLOTS];
    if (slot === undefined) return;
    if (slot.slice !== slice) {
      slot.slice = slice;
      slot.calls = 0;
      slot.failures = 0;
    }
    slot.calls += 1;
    if (failed) slot.failures += 1;
  }

  totals(now: number): { readonly calls: number; readonly failures: number } {
    const last = Math.floor(now / this.#sliceMs);
    let calls = 0;
    let failures = 0;
    for (const slot of this.#slots) {
      if (slot.slice > last || slot.slice <= last - SLOTS) continue;
      calls += slot.calls;
      failures += slot.failures;
    }
    return { calls, failures };
  }

  clear(): void {
    for (const slot of this.#slots) slot.slice = -1;
  }
}
