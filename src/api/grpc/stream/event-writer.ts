// EventWriter: events become messages in their order. A large partial result is written in slices, and what comes after it waits for it.
import type { CallEvent } from '../../../contract/call/tool-call.ts';
import { isLargeJson } from '../../../lib/large-json/write-json.ts';
import type { PayloadForm } from '../execute/read-request.ts';
import { writeEvent, writePartial } from '../execute/write-response.ts';
import { MAX_PENDING_EVENTS } from './event-queue.ts';

/** Large ones that wait to be written: each may be as large as a result. */
const MAX_PENDING_LARGE = 16;

export interface EventSink {
  /** `mayBeLeftOut`: for a reader who is slow. */
  push(message: Uint8Array, mayBeLeftOut: boolean): void;
  /** More events wait for one that is being written than may wait. */
  overflow(): void;
  /** An event cannot be written. */
  fail(thrown: unknown): void;
}

export class EventWriter {
  readonly #form: PayloadForm;
  readonly #sink: EventSink;
  #waiting: CallEvent[] = [];
  #writing: Promise<void> | undefined;

  constructor(form: PayloadForm, sink: EventSink) {
    this.#form = form;
    this.#sink = sink;
  }

  write(event: CallEvent): void {
    if (this.#writing === undefined && !isLarge(event)) return this.#put(event);
    const large = isLarge(event) && this.#waiting.filter(isLarge).length >= MAX_PENDING_LARGE;
    if (!large && this.#waiting.length < MAX_PENDING_EVENTS) this.#waiting.push(event);
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
        await writePartial(event.data, this.#form).then(
          (message) => this.#sink.push(message, false),
          (thrown: unknown) => this.#sink.fail(thrown),
        );
    }
    this.#writing = undefined;
  }

  #put(event: CallEvent): void {
    let message;
    try {
      message = writeEvent(event, this.#form);
    } catch (thrown) {
      return this.#sink.fail(thrown);
    }
    this.#sink.push(message, event.kind !== 'partial');
  }
}

function isLarge(event: CallEvent): event is CallEvent & { readonly kind: 'partial' } {
  return event.kind === 'partial' && isLargeJson(event.data);
}
