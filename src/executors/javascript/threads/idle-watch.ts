// IdleWatch: whether a thread whose calls are over has shown that it is idle, and what to do with one that does not.
import type { Clock } from '../../../ports/clock.ts';
import { LEFTOVERS_EVERY_MS } from './messages.ts';

/** After its last answer, or after it was to be heard of again. Usually it takes less than a millisecond. */
const IDLE_WITHIN_MS = 250;

export class IdleWatch {
  readonly #clock: Clock;
  readonly #onSilent: () => void;
  #disarm: (() => void) | undefined;
  #isIdle = true;
  #hasLeftovers = false;

  /** `onSilent`: its event loop does not turn although no call is in it. */
  constructor(clock: Clock, onSilent: () => void) {
    this.#clock = clock;
    this.#onSilent = onSilent;
  }

  /** Its event loop has turned since its last answer. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** Something that a call started is not over yet. */
  get hasLeftovers(): boolean {
    return this.#hasLeftovers;
  }

  /** The last call in it was answered. */
  begin(): void {
    this.#isIdle = false;
    this.#arm(IDLE_WITHIN_MS);
  }

  /** It is idle now. True: that changes what it may be given. */
  reportedIdle(hasLeftovers: boolean): boolean {
    const changed = !this.#isIdle || this.#hasLeftovers !== hasLeftovers;
    this.#isIdle = true;
    this.#hasLeftovers = hasLeftovers;
    // What is left may begin to spin at any time: such a thread is heard of again and again.
    if (hasLeftovers) this.#arm(LEFTOVERS_EVERY_MS + IDLE_WITHIN_MS);
    else this.stop();
    return changed;
  }

  /** A call is given to it: one that has not shown yet that it is idle has to all the same. */
  stopIfIdle(): void {
    if (this.#isIdle) this.stop();
  }

  /** It has turned, or ended. */
  stop(): void {
    this.#disarm?.();
    this.#disarm = undefined;
  }

  #arm(ms: number): void {
    this.stop();
    let immediate: NodeJS.Immediate | undefined;
    const disarm = this.#clock.after(ms, () => {
      // One turn of the loop, so that what is already in the pipe still counts.
      immediate = setImmediate(this.#onSilent);
    });
    this.#disarm = () => (disarm(), clearImmediate(immediate));
  }
}
