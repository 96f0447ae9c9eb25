// A call of Converse as the line of a stream.
import type { Client, ClientDuplexStream, Metadata, ServiceError } from '@grpc/grpc-js';
import type { LineEvents, StreamLine } from '../stream/line.ts';
import type { ClientMessage } from '../stream/messages.ts';
import { messageOf, requestOf } from './converse-messages.ts';
import { CONVERSE, type Fields } from './schema.ts';
import { errorOfStatus } from './status.ts';

export class ConverseLine implements StreamLine {
  readonly #call: ClientDuplexStream<object, Fields>;
  readonly #events: LineEvents;
  #isOver = false;

  constructor(client: Client, metadata: Metadata, events: LineEvents, signal: AbortSignal) {
    const { path, requestSerialize, responseDeserialize } = CONVERSE;
    this.#events = events;
    this.#call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    this.#call.on('data', (response: Fields) => {
      const message = messageOf(response);
      if (message !== undefined && !this.#isOver) events.message(message);
    });
    this.#call.on('error', (status: ServiceError) => this.#closed(errorOfStatus(status)));
    this.#call.on('end', () => this.#closed(undefined));
    signal.addEventListener('abort', () => this.drop(), { once: true });
  }

  send(message: ClientMessage): void {
    if (!this.#isOver) this.#call.write(requestOf(message));
  }

  /** As a WebSocket is closed: calls are given up, and nothing is waited for. */
  end(): void {
    this.send({ type: 'turn_end', cancel: true });
    this.send({ type: 'end' });
    this.#isOver = true;
    this.#call.end();
  }

  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call.cancel();
  }

  #closed(why: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.closed(why);
  }
}
