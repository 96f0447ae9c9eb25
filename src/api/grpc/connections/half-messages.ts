// Bounds what requests take together that are not over: anybody may begin one on each of many streams, and leave it there. A
// message that is half there is kept; so is a whole one, as long as the caller has not said that no other follows.
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Server } from '@grpc/grpc-js';
import type { ArrivingBodies, ArrivingBody } from '../../../lib/bytes/arriving-bodies.ts';
import { eachHttp2Server } from './each-http2-server.ts';

/** Before a message: one byte that says whether it is compressed, and four for its length. */
const HEAD_BYTES = 5;
/** Smaller ones take less than their stream does. */
const SMALL_BYTES = 16 * 1024;

/** Of grpc-js, what its types leave out: the methods that it serves. */
interface ServerOfMethods {
  readonly handlers: ReadonlyMap<string, { readonly type: string }>;
}

/** Whose handlers take one message after another; all others begin when the request is over. */
const OF_MANY_MESSAGES: ReadonlySet<string | undefined> = new Set(['bidi', 'clientStream']);

/** Before the server is bound. Callers whose message is given up are told RESOURCE_EXHAUSTED. */
export function boundHalfMessages(server: Server, arriving: ArrivingBodies): void {
  const { handlers } = server as unknown as ServerOfMethods;
  // Behind grpc-js's own listener, which has paused the stream: nothing is read earlier for it.
  eachHttp2Server(server, (http2) =>
    http2.on('stream', (stream, { ':path': path = '' }: IncomingHttpHeaders) => {
      const takesMany = OF_MANY_MESSAGES.has(handlers.get(path)?.type);
      follow(stream, arriving, takesMany ? new HalfMessage() : new WholeRequest());
    }),
  );
}

/** Most calls are one small message: nothing is made for them but the count. */
function follow(stream: ServerHttp2Stream, arriving: ArrivingBodies, kept: Kept): void {
  let body: ArrivingBody | undefined;
  stream.on('data', (data: Buffer) => {
    const bytes = kept.take(data);
    if (bytes > SMALL_BYTES) arriving.keeps((body ??= bodyOf(stream, arriving)), bytes);
    else if (body !== undefined) arriving.ended(body);
  });
}

function bodyOf(stream: ServerHttp2Stream, arriving: ArrivingBodies): ArrivingBody {
  const body = { bytes: 0, giveUp: () => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM) };
  stream.once('end', () => arriving.ended(body));
  stream.once('close', () => arriving.ended(body));
  return body;
}

interface Kept {
  /** How much is kept after so much more. */
  take(data: Uint8Array): number;
}

class WholeRequest implements Kept {
  #bytes = 0;

  take({ length }: Uint8Array): number {
    return (this.#bytes += length);
  }
}

/** How much of a message has arrived that is not whole. */
export class HalfMessage implements Kept {
  #head = 0;
  #size = 0;
  #bytes = 0;

  /** What is kept of the last one after so much more. */
  take(data: Uint8Array): number {
    let at = 0;
    while (at < data.length) {
      if (this.#head < HEAD_BYTES) {
        if (this.#head > 0) this.#size = this.#size * 256 + (data[at] ?? 0);
        this.#head += 1;
        at += 1;
      } else {
        const taken = Math.min(this.#size - this.#bytes, data.length - at);
        this.#bytes += taken;
        at += taken;
      }
      if (this.#head === HEAD_BYTES && this.#bytes === this.#size) this.#next();
    }
    return this.#bytes;
  }

  #next(): void {
    this.#head = 0;
    this.#size = 0;
    this.#bytes = 0;
  }
}
