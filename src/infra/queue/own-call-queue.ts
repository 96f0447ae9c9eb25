// OwnCallQueue: CallQueue of a gateway that has no Redis: nobody but itself is to be told.
import type { CallQueue } from '../../ports/call-queue.ts';

export class OwnCallQueue implements CallQueue {
  #hear: ((id: string) => boolean) | undefined;

  offer(id: string): void {
    this.#hear?.(id);
  }

  pass(): void {}

  start(hear: (id: string) => boolean): void {
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
