// Inbox: what the gateway has said and nobody has read yet. One reader; bounded, since a WebSocket of the platform cannot be held back.

const MOST_UNREAD = 8_192;

export class Inbox<Message> implements AsyncIterable<Message> {
  #unread: Message[] = [];
  #waiting: (() => void) | undefined;
  #isOver = false;
  #error: Error | undefined;
  #isRead = false;

  push(message: Message): void {
    if (this.#isOver) return;
    this.#unread.push(message);
    if (this.#unread.length > MOST_UNREAD) this.#overflow();
    this.#wake();
  }

  /** With an error: whoever reads gets it, after what is there. */
  end(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Message, void> {
    if (this.#isRead) throw new TypeError('The messages of a stream are read once, by one reader.');
    this.#isRead = true;
    try {
      for (;;) {
        for (let next = this.#unread.shift(); next !== undefined; next = this.#unread.shift()) yield next;
        if (this.#error !== undefined) throw this.#error;
        if (this.#isOver) return;
        await new Promise<void>((resolve) => (this.#waiting = resolve));
      }
    } finally {
      this.#isRead = false;
    }
  }

  /** Whoever never reads, and waits for results alone, is not troubled by it; memory has an end. */
  #overflow(): void {
    this.#unread = [];
    this.end(new Error(`More than ${MOST_UNREAD} messages of the stream came before they were read.`));
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}
