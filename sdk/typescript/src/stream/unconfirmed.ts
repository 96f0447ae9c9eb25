// Unconfirmed: what was sent, and may have to be sent again on another connection.
import { ConnectionError } from '../errors/gateway-error.ts';
import type { ClientMessage } from './messages.ts';

export class Unconfirmed {
  #sent = 0;
  #confirmed = 0;
  #messages: ClientMessage[] = [];

  /** How many were sent since the stream began. */
  get sent(): number {
    return this.#sent;
  }

  get count(): number {
    return this.#messages.length;
  }

  push(message: ClientMessage): void {
    this.#sent += 1;
    this.#messages.push(message);
  }

  /** The gateway has taken the first so many of all. */
  confirm(taken: number): void {
    if (taken <= this.#confirmed) return;
    this.#messages.splice(0, taken - this.#confirmed);
    this.#confirmed = Math.min(taken, this.#sent);
  }

  /** What the gateway has to be sent again, of which it says how many it has taken. */
  after(taken: number): readonly ClientMessage[] {
    if (taken < this.#confirmed)
      throw new ConnectionError('The gateway has lost a part of the stream: start another one.');
    this.confirm(taken);
    return [...this.#messages];
  }
}
