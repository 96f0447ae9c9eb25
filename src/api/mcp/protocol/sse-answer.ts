// SseAnswer: an answer that is a stream of events, since there is something to tell before its end. No faster than its reader, and
// no longer than that one reads.
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { EventQueue } from '../../grpc/stream/event-queue.ts';

const KEEP_ALIVE_MS = 15_000;
/** A reader that takes nothing of what waits for so long is gone. Longer than it takes to say that the stream is alive. */
const STUCK_MS = 30_000;

/** Why a reader is sent away: it takes nothing any more, or is too slow for what must not be left out. */
export type ReaderLost = 'stuck' | 'too_slow';

export class SseAnswer {
  readonly #raw: ServerResponse;
  readonly #queue: EventQueue;
  readonly #keepAlive: NodeJS.Timeout | undefined;

  /** `lost`: the reader is sent away. Its connection is closed by then. */
  constructor(reply: FastifyReply, lost: (why: ReaderLost) => void) {
    reply.hijack();
    const { raw } = reply;
    this.#raw = raw;
    raw.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      // A connection that has carried a stream is not kept: closing the gateway would wait for it.
      connection: 'close',
    });
    raw.flushHeaders();
    const sendAway = (why: ReaderLost) => {
      raw.destroy();
      lost(why);
    };
    const overflow = () => sendAway('too_slow');
    this.#queue = new EventQueue(raw, { send: (bytes) => void raw.write(bytes), overflow });
    // Nothing tells again that it is closed.
    if (raw.destroyed) {
      this.#queue.close();
      return;
    }
    this.#keepAlive = setInterval(() => {
      if (raw.writableLength === 0) raw.write(': still here\n\n');
    }, KEEP_ALIVE_MS);
    this.#keepAlive.unref();
    // Its timeout counts from the last bytes that the connection took, so that a slow reader of a large event is none of these.
    raw.setTimeout(STUCK_MS, () => {
      if (raw.writableLength > 0 && !raw.destroyed) sendAway('stuck');
    });
    raw.once('close', () => {
      clearInterval(this.#keepAlive);
      this.#queue.close();
    });
  }

  /** `json` is JSON text: it holds no line break. */
  push(json: string, mayBeLeftOut: boolean): void {
    this.#queue.push(frameOf(json), mayBeLeftOut);
  }

  /** Once its reader has what was told so far, or has gone. */
  async caughtUp(): Promise<void> {
    while (!this.#raw.destroyed && this.#raw.writableNeedDrain) await drainedOrClosed(this.#raw);
  }

  /** After everything that waits; undefined: there is nothing to say. */
  end(json: string | undefined): void {
    this.#queue.finish(() => {
      clearInterval(this.#keepAlive);
      if (json === undefined) this.#raw.end();
      else this.#raw.end(frameOf(json));
    });
  }
}

function drainedOrClosed(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      raw.off('drain', over).off('close', over);
      resolve();
    };
    raw.on('drain', over).on('close', over);
  });
}

function frameOf(json: string): Buffer {
  return Buffer.from(`event: message\ndata: ${json}\n\n`);
}
