// EventStream: server-sent events over one answer: no faster than the reader reads, alive while nothing happens, and over
// once the reader's credential is good no more.
import type { FastifyReply } from 'fastify';

const KEEP_ALIVE_MS = 15_000;
/** A reader that takes nothing of what waits for so long is gone. Longer than it takes to say that the stream is alive. */
const STUCK_MS = 30_000;
const RECONNECT_AFTER_MS = 1_000;

export class EventStream {
  readonly #raw: FastifyReply['raw'];
  readonly #gone = new AbortController();
  readonly #keepAlive: NodeJS.Timeout;
  readonly #stillAllowed: () => Promise<void>;

  /** `stillAllowed` is asked before every event, and while there is none. */
  constructor(reply: FastifyReply, stillAllowed: () => Promise<void>) {
    reply.hijack();
    this.#raw = reply.raw;
    this.#stillAllowed = stillAllowed;
    this.#raw.once('close', () => this.#end());
    this.#raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      // A connection that has carried a stream is not kept: closing the gateway would wait for it.
      connection: 'close',
    });
    this.#raw.write(`retry: ${RECONNECT_AFTER_MS}\n\n`);
    this.#keepAlive = setInterval(() => void this.#sayAlive(), KEEP_ALIVE_MS);
    this.#keepAlive.unref();
    // Its timeout counts from the last bytes that the connection took, so that a slow reader of a large event is none of these.
    this.#raw.setTimeout(STUCK_MS, () => {
      if (this.#raw.writableLength > 0) this.#raw.destroy();
    });
  }

  /** Aborted when the reader is gone. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** `data` is JSON text: it holds no line break. Resolves when the reader can take more. */
  async send(event: string, data: string, id?: number): Promise<void> {
    if (!(await this.#isAllowed())) return;
    const text = `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
    if (this.#raw.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#raw.off('drain', done).off('close', done);
        resolve();
      };
      this.#raw.on('drain', done).on('close', done);
    });
  }

  close(): void {
    this.#end();
    this.#raw.end();
  }

  async #sayAlive(): Promise<void> {
    if (await this.#isAllowed()) this.#raw.write(': still here\n\n');
  }

  /** A reader who is not allowed any more asks again, and hears why. */
  async #isAllowed(): Promise<boolean> {
    try {
      await this.#stillAllowed();
    } catch {
      this.close();
    }
    return !this.gone.aborted;
  }

  #end(): void {
    clearInterval(this.#keepAlive);
    this.#gone.abort();
  }
}
