// Reads the messages of an answer: one, or a stream of them that is told on as it comes, bounded in number and size.
import type { DescMethod, FileRegistry } from '@bufbuild/protobuf';
import { toolFailure } from '../../contract/call/failure.ts';
import type { Emit } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { JsonValue } from '../../contract/json.ts';
import { inSlices, yieldToLoop } from '../../lib/concurrency/in-slices.ts';
import { decodeMessage } from '../../lib/grpc/message/decode-message.ts';
import { MessageBounds } from '../../lib/grpc/message/message-bounds.ts';
import { MessageError } from '../../lib/grpc/message/message-error.ts';

export interface AnswerBounds {
  readonly maxMessages: number;
  readonly maxBytes: number;
  readonly defaults: boolean;
}

/** Thrown by the message behind the last that is wanted: the stream is ended. */
export class EnoughMessages extends Error {}

export class AnswerReader {
  readonly #method: DescMethod;
  readonly #types: FileRegistry;
  readonly #bounds: AnswerBounds;
  /** Undefined: nobody listens. */
  readonly #emit: Emit | undefined;
  readonly #clean: (value: JsonValue) => JsonValue;
  readonly #messages: JsonValue[] = [];
  /** Of all of them: each may be small, and hold much that does not stand on the wire. */
  readonly #read = new MessageBounds();
  #bytes = 0;

  constructor(
    method: DescMethod,
    types: FileRegistry,
    bounds: AnswerBounds,
    listener: { readonly emit: Emit | undefined; readonly clean: (value: JsonValue) => JsonValue },
  ) {
    this.#method = method;
    this.#types = types;
    this.#bounds = bounds;
    this.#emit = listener.emit;
    this.#clean = listener.clean;
  }

  get hasBegun(): boolean {
    return this.#messages.length > 0;
  }

  /** Throws ToolFailure, or EnoughMessages. */
  take(bytes: Uint8Array): void | Promise<void> {
    const { maxBytes, maxMessages, defaults } = this.#bounds;
    const isStream = this.#method.methodKind !== 'unary';
    this.#bytes += bytes.length;
    if (this.#bytes > maxBytes)
      throw new ToolFailure(
        'OUTPUT_TOO_LARGE',
        `The upstream's answer is larger than the limit of ${maxBytes} bytes.`,
        { details: { max_bytes: maxBytes } },
      );
    if (!isStream && this.hasBegun)
      throw toolFailure('GRPC_PROTOCOL', 'The upstream answered a unary call with more than one message.');
    if (isStream && this.#messages.length >= maxMessages) throw new EnoughMessages();
    const options = { types: this.#types, defaults, bounds: this.#read };
    const work = decodeMessage(this.#method.output, bytes, options);
    try {
      const first = work.next();
      if (first.done !== true) return this.#goOn(work);
      this.#add(first.value);
    } catch (error) {
      rethrow(error);
    }
  }

  /** The next message waits, and others get their turn, however little is left of this one. */
  async #goOn(work: Generator<void, JsonValue>): Promise<void> {
    await yieldToLoop();
    this.#add(await inSlices(work).catch(rethrow));
  }

  /** `isComplete`: the upstream itself has ended the stream. */
  data(isComplete: boolean): JsonValue {
    if (this.#method.methodKind !== 'unary') return { messages: this.#messages, complete: isComplete };
    const [only] = this.#messages;
    if (only === undefined)
      throw toolFailure('GRPC_PROTOCOL', 'The upstream answered a unary call with no message.');
    return only;
  }

  #add(value: JsonValue): void {
    this.#messages.push(value);
    if (this.#method.methodKind !== 'unary') this.#emit?.({ kind: 'partial', data: this.#clean(value) });
  }
}

function rethrow(error: unknown): never {
  if (!(error instanceof MessageError)) throw error;
  const { fault, message, cause } = error;
  if (fault === 'INVALID') throw toolFailure('GRPC_PROTOCOL', message, { cause });
  if (fault === 'TOO_DEEP') throw new ToolFailure('OUTPUT_INVALID', message, { reason: 'TOO_DEEP' });
  throw toolFailure('TOO_MANY_VALUES', message);
}
