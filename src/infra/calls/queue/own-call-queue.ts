// OwnCallQueue: CallQueue of a gateway that has no Redis: nobody but itself is to be told.
import type { CallQueue, CallListener } from '../../../ports/calls/call-queue.ts';

export class OwnCallQueue implements CallQueue {
  #listener: CallListener | undefined;

  offer(id: string): void {
    this.#listener?.(id, false);
  }

  pass(): void {}

  start(listener: CallListener): void {
    this.#listener = listener;
  }

  listen(): void {}

  stop(): void {
    this.#listener = undefined;
  }

  async close(): Promise<void> {
    this.stop();
  }
}
