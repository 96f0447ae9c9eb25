// OwnCallQueue: CallQueue of a gateway that has no Redis: nobody but itself is to be told.
import type { CallQueue, HearOfCall } from '../../../ports/calls/call-queue.ts';

export class OwnCallQueue implements CallQueue {
  #hear: HearOfCall | undefined;

  offer(id: string): void {
    this.#hear?.(id, false);
  }

  pass(): void {}

  start(hear: HearOfCall): void {
    this.#hear = hear;
  }

  listen(): void {}

  stop(): void {
    this.#hear = undefined;
  }

  async close(): Promise<void> {
    this.stop();
  }
}
