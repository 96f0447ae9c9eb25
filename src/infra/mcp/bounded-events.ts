// BoundedEvents: lets an event stream through, and ends it where an event is too large, or its JSON too deep or
// of too many values.
import type { ToolFailure } from '../../contract/tool-failure.ts';
import { boundOf, MOST_VALUES } from '../../lib/json-bounds.ts';
import { tooDeep, tooLarge, tooMuch } from './failures.ts';
import { JsonDepth, MAX_DEPTH } from './json-depth.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const DATA = Buffer.from('data:');

/** `onRefused` is told before the stream ends with the same failure. */
export function boundedEvents(
  maxBytes: number,
  onRefused: (failure: ToolFailure) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const meter = new EventMeter(maxBytes);
  return new TransformStream({
    transform(chunk, controller) {
      const failure = meter.push(chunk);
      if (failure === undefined) return controller.enqueue(chunk);
      onRefused(failure);
      controller.error(failure);
    },
  });
}

class EventMeter {
  readonly #maxBytes: number;
  readonly #depth = new JsonDepth();
  #eventBytes = 0;
  #lineBytes = 0;
  /** Of the current line: how much of `data:` it has begun with. */
  #matched = 0;
  #afterReturn = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): ToolFailure | undefined {
    for (const byte of chunk) {
      const endsLine = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      const isSecondHalf = byte === LINE_FEED && this.#afterReturn;
      this.#afterReturn = byte === CARRIAGE_RETURN;
      if (isSecondHalf) continue;
      if (endsLine) {
        this.#endLine();
        continue;
      }
      this.#eventBytes += 1;
      if (this.#eventBytes > this.#maxBytes) return tooLarge(this.#maxBytes);
      if (!this.#pushInLine(byte)) return tooDeep(MAX_DEPTH);
      if (this.#depth.values > MOST_VALUES) return tooMuch(boundOf('values'));
    }
    return undefined;
  }

  #pushInLine(byte: number): boolean {
    const at = this.#lineBytes;
    this.#lineBytes += 1;
    if (at >= DATA.length) return this.#matched < DATA.length || this.#depth.push(byte);
    if (byte === DATA[at] && this.#matched === at) this.#matched += 1;
    return true;
  }

  #endLine(): void {
    if (this.#lineBytes === 0) {
      this.#eventBytes = 0;
      this.#depth.reset();
    }
    this.#lineBytes = 0;
    this.#matched = 0;
  }
}
