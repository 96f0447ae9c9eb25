// EventWriter: events of a call become messages in their order. A large partial result is written in slices, and what comes after it
// waits for it.
import type { CallEvent } from '../contract/call/tool-call.ts';
import type { JsonValue } from '../contract/json.ts';
import { isLargeJson } from '../lib/large-json/write-json.ts';

/** Events that wait for one that is being written. */
export const MAX_WAITING_EVENTS = 1000;
/** Large ones that wait to be written: each may be as large as a result. */
const MAX_PENDING_LARGE = 16;

export interface EventForm<Message> {
  readonly write: (event: CallEvent) => Message;
  /** What `write` gives of a partial result, in slices. */
  readonly writeLarge: (data: JsonValue) => Promise<Message>;
}

export interface EventSink<Message> {
  /** `mayBeLeftOut`: for a reader who is slow. */
  push(message: Message, mayBeLeftOut: boolean): void;
  /** More events wait for one that is being written than may wait. */
  overflow(): void;
  /** An event cannot be written. */
  fail(thrown: unknown): void;
}

export class EventWriter<Message> {
  readonly #form: EventForm<Message>;
  readonly #sink: EventSink<Message>;
  #waiting: CallEvent[] = [];
  #writing: Promise<void> | undefined;

  constructor(form: EventForm<Message>, sink: EventSink<Message>) {
    this.#form = form;
    this.#sink = sink;
  }

  write(event: CallEvent): void {
    if (this.#writing === undefined && !isLarge(event)) return this.#put(event);
    const large = isLarge(event) && this.#waiting.filter(isLarge).length >= MAX_PENDING_LARGE;
    if (!large && this.#waiting.length < MAX_WAITING_EVENTS) this.#waiting.push(event);
    else if (event.kind === 'partial') return this.#sink.overflow();
    this.#writing ??= this.#writeWaiting();
  }

  /** Resolves when every event has been handed on. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      if (!isLarge(event)) this.#put(event);
      else
        await this.#form.writeLarge(event.data).then(
          (message) => this.#sink.push(message, false),
          (thrown: unknown) => this.#sink.fail(thrown),
        );
    }
    this.#writing = undefined;
  }

  #put(event: CallEvent): void {
    let message;
    try {
      message = this.#form.write(event);
    } catch (thrown) {
      return this.#sink.fail(thrown);
    }
    this.#sink.push(message, event.kind !== 'partial');
  }
}

function isLarge(event: CallEvent): event is CallEvent & { readonly kind: 'partial' } {
  return event.kind === 'partial' && isLargeJson(event.data);
}
