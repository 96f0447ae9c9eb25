// FakeClock: time that stands still until a test moves it.
import type { Clock } from '../../src/ports/clock.ts';

interface Timer {
  readonly dueAt: number;
  readonly task: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  /** By how much the machine's date is set off. */
  #setOffMs = 0;
  /** In the order they were set: of two that are due together, the older runs first. */
  readonly #timers = new Set<Timer>();

  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  wall(moment = this.#now): number {
    return moment + this.#setOffMs;
  }

  /** As somebody sets the machine's clock: nothing that is measured changes. */
  setWall(wall: number): void {
    this.#setOffMs = wall - this.#now;
  }

  after(ms: number, task: () => void): () => void {
    const timer = { dueAt: this.#now + Math.max(0, ms), task };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves time on, running every timer on its way at its own time, with what it set off settled in between. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settled();
    for (let timer = this.#nextDue(target); timer !== undefined; timer = this.#nextDue(target)) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.dueAt);
      timer.task();
      await settled();
    }
    this.#now = target;
  }

  /** Sets the time without running anything. */
  jumpTo(now: number): void {
    this.#now = now;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  #nextDue(target: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAt <= target && (next === undefined || timer.dueAt < next.dueAt)) next = timer;
    }
    return next;
  }
}

/** One turn of the event loop: every microtask has run, however long the chain. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
