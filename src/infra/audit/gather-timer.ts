// GatherTimer: when what has gathered is written. One time is set at most; a new one takes its place.
import type { Clock } from '../../ports/clock.ts';

export class GatherTimer {
  readonly #clock: Clock;
  readonly #fire: () => void;
  #cancel: (() => void) | undefined;
  #isUnhurried = false;

  constructor(clock: Clock, fire: () => void) {
    this.#clock = clock;
    this.#fire = fire;
  }

  get isSet(): boolean {
    return this.#cancel !== undefined;
  }

  /** Set for what nobody waits for. */
  get isUnhurried(): boolean {
    return this.isSet && this.#isUnhurried;
  }

  /** At the end of this turn of the event loop. */
  soon(): void {
    this.clear();
    const soon = setImmediate(this.#fire);
    this.#cancel = () => clearImmediate(soon);
  }

  after(ms: number, unhurried = false): void {
    this.clear();
    this.#isUnhurried = unhurried;
    this.#cancel = this.#clock.after(ms, this.#fire);
  }

  clear(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#isUnhurried = false;
  }
}
