// IdleReport: reports that the thread is idle once its calls are over and its event loop has turned, which a loop that one left prevents.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';
import { LEFTOVERS, LEFTOVERS_EVERY_MS } from '../threads/messages.ts';
import type { Leftovers } from './leftovers.ts';

// Taken before any handler is loaded: one that replaces them deceives itself alone.
const [onNextTurn, startTimer, stopTimer] = [setImmediate, setTimeout, clearTimeout];

export class IdleReport {
  readonly #leftovers: Leftovers;
  readonly #isBusy: () => boolean;
  readonly #send: (body: string) => void;
  readonly #report = () => this.#look();
  #again: NodeJS.Timeout | undefined;
  /** The event loop has not turned since the last answer. */
  #isDue = false;

  constructor(leftovers: Leftovers, isBusy: () => boolean, send: (body: string) => void) {
    this.#leftovers = leftovers;
    this.#isBusy = isBusy;
    this.#send = send;
  }

  /** A request was answered. */
  answered(): void {
    if (this.#isBusy()) return;
    this.#isDue = true;
    onNextTurn(this.#report);
  }

  /** One was read, before it is begun: that shows as well that nothing holds the thread. */
  read(): void {
    if (this.#isDue) this.#send(LEFTOVERS);
    this.#isDue = false;
  }

  #look(): void {
    this.#isDue = false;
    stopTimer(this.#again);
    // What runs by now is followed by a report of its own.
    if (this.#isBusy()) return;
    const { any } = this.#leftovers;
    this.#send(any ? LEFTOVERS : '');
    if (any) this.#again = startTimer(this.#report, LEFTOVERS_EVERY_MS).unref();
  }
}
