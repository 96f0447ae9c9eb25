// EventQueue: messages of one server stream on their way to a reader who may be slow. Bounded in number and bytes.

/** The part of a gRPC server stream that tells whether its reader keeps up. */
export interface StreamPace {
  readonly writableNeedDrain: boolean;
  on(event: 'drain', listener: () => void): unknown;
  off(event: 'drain', listener: () => void): unknown;
}

export const MAX_PENDING_EVENTS = 1000;
export const MAX_PENDING_BYTES = 16 * 1024 * 1024;

export interface QueueSink {
  send(message: Uint8Array): void;
  /** More partial results wait than the queue may hold. */
  overflow(): void;
}

export class EventQueue {
  readonly #pace: StreamPace;
  readonly #sink: QueueSink;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #closed = false;
  #end: (() => void) | undefined;

  constructor(pace: StreamPace, sink: QueueSink) {
    this.#pace = pace;
    this.#sink = sink;
    pace.on('drain', this.#flush);
  }

  /** What may be left out is left out when the queue is full; anything else overflows it. */
  push(message: Uint8Array, mayBeLeftOut: boolean): void {
    if (this.#closed) return;
    if (this.#waiting.length === 0 && !this.#pace.writableNeedDrain) return this.#sink.send(message);
    const full =
      this.#waiting.length >= MAX_PENDING_EVENTS || this.#bytes + message.length > MAX_PENDING_BYTES;
    if (!full) {
      this.#waiting.push(message);
      this.#bytes += message.length;
    } else if (!mayBeLeftOut) {
      this.#closed = true;
      this.#sink.overflow();
    }
  }

  /** Takes no more; `end` runs once everything that waits was handed over. */
  finish(end: () => void): void {
    this.#closed = true;
    this.#end = end;
    this.#flush();
  }

  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#end = undefined;
    this.#pace.off('drain', this.#flush);
  }

  readonly #flush = (): void => {
    let sent = 0;
    while (sent < this.#waiting.length && !this.#pace.writableNeedDrain) {
      const message = this.#waiting[sent++];
      if (message === undefined) break;
      this.#bytes -= message.length;
      this.#sink.send(message);
    }
    this.#waiting = this.#waiting.slice(sent);
    if (this.#waiting.length > 0) return;
    const end = this.#end;
    this.#end = undefined;
    end?.();
  };
}
