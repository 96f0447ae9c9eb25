// WaitingLines: of each lease that calls of this replica wait for: how many, and when the first of them asks again by itself.
import type { Clock } from '../../ports/clock.ts';

interface Line {
  waiting: number;
  /** Calls on their first question, which may end up in this line. */
  asking: number;
  /** A place may have become free while everybody here was asking already. */
  poked: boolean;
  lookAt: number;
  stopTimer: (() => void) | undefined;
}

export interface LinesDeps {
  readonly clock: Clock;
  readonly random: () => number;
  /** Longest time between two looks. */
  readonly pollMs: number;
  look(key: string): void;
  /** Nobody here waits any more. */
  onEmpty(key: string): void;
}

export class WaitingLines {
  readonly #deps: LinesDeps;
  readonly #lines = new Map<string, Line>();

  constructor(deps: LinesDeps) {
    this.#deps = deps;
  }

  get keys(): Iterable<string> {
    return this.#lines.keys();
  }

  waiting(key: string): number {
    return this.#lines.get(key)?.waiting ?? 0;
  }

  asking(key: string): number {
    return this.#lines.get(key)?.asking ?? 0;
  }

  has(key: string): boolean {
    return this.#lines.has(key);
  }

  beginAsking(key: string): void {
    this.#open(key).asking += 1;
  }

  endAsking(key: string): void {
    const line = this.#lines.get(key);
    if (line === undefined) return;
    line.asking -= 1;
    this.#closeIfEmpty(key, line);
  }

  enter(key: string): void {
    this.#open(key).waiting += 1;
  }

  /** `served` says that the store has ended the turn of this replica itself, if nobody else here waits. */
  leave(key: string, served: boolean): void {
    const line = this.#lines.get(key);
    if (line === undefined) return;
    line.waiting -= 1;
    if (line.waiting === 0 && !served) this.#deps.onEmpty(key);
    this.#closeIfEmpty(key, line);
  }

  poke(key: string): void {
    const line = this.#lines.get(key);
    if (line !== undefined) line.poked = true;
  }

  /** True once after a poke. */
  takePoke(key: string): boolean {
    const line = this.#lines.get(key);
    const poked = line?.poked === true;
    if (line !== undefined) line.poked = false;
    return poked;
  }

  /** A look after `ms` at the latest, and then at every poll. */
  lookWithin(key: string, ms: number): void {
    const { clock, random, pollMs } = this.#deps;
    const delayMs = Math.max(1, Math.min(ms, pollMs));
    const line = this.#lines.get(key);
    const at = performance.now() + delayMs;
    if (line === undefined || line.lookAt <= at) return;
    line.stopTimer?.();
    line.lookAt = at;
    line.stopTimer = clock.after(delayMs * (1 + random() / 5), () => {
      line.lookAt = Infinity;
      this.lookWithin(key, pollMs);
      this.#deps.look(key);
    });
  }

  #open(key: string): Line {
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = { waiting: 0, asking: 0, poked: false, lookAt: Infinity, stopTimer: undefined };
      this.#lines.set(key, line);
    }
    return line;
  }

  #closeIfEmpty(key: string, line: Line): void {
    if (line.waiting > 0) return;
    line.stopTimer?.();
    line.lookAt = Infinity;
    if (line.asking === 0) this.#lines.delete(key);
  }
}
