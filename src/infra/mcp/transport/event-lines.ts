// EventLines: the bytes of an event stream as events: their data, and what they say of where the stream can be taken up again.
// What says nothing (comments, blank lines, events of other kinds) ends here.
import { ByteList } from '../../../lib/bytes/byte-list.ts';
import { tooLarge } from '../failures.ts';

const LINE_FEED = 0x0a, CARRIAGE_RETURN = 0x0d, COLON = 0x3a, SPACE = 0x20; // oxfmt-ignore
const BREAK = Buffer.from('\n');
const BYTE_ORDER_MARK = Buffer.from('\u{feff}');
/** Names of fields are short: a longer one is none that counts. */
const MAX_NAME_BYTES = 8;

export interface StreamEvent {
  /** Lines `id` and `retry`, the newest ones since the last event that was given. */
  readonly position: string;
  /** Undefined: it has none, or is of a kind that is not listened to. */
  readonly data: Buffer | undefined;
}

export class EventLines {
  readonly #maxBytes: number;
  /** Of the line that is not over. */
  readonly #line = new ByteList();
  #data = new ByteList();
  #hasData = false;
  #isMessage = true;
  #position = new Map<string, string>();
  /** Of the event that is not over, without line ends. */
  #bytes = 0;
  #afterReturn = false;
  #isFirst = true;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The events that end in it; at last one without data, where a position is left. Throws ToolFailure at one that is too large. */
  *push(chunk: Buffer): Generator<StreamEvent> {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      const isSecondHalf = byte === LINE_FEED && this.#afterReturn;
      this.#afterReturn = byte === CARRIAGE_RETURN;
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) continue;
      if (!isSecondHalf) {
        const isBlank = at === from && this.#line.length === 0;
        const event = isBlank ? this.#endEvent() : this.#endLine(chunk.subarray(from, at));
        if (event !== undefined) yield event;
      }
      from = at + 1;
    }
    if (from < chunk.length) {
      this.#line.push(chunk.subarray(from));
      this.#check(this.#line.length);
    }
    const position = this.#takePosition();
    if (position !== '') yield { position, data: undefined };
  }

  #endLine(rest: Buffer): StreamEvent | undefined {
    let line = rest;
    if (this.#line.length > 0) {
      this.#line.push(rest);
      line = this.#line.whole();
      this.#line.clear();
    }
    if (this.#isFirst && line.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) {
      line = line.subarray(BYTE_ORDER_MARK.length);
    }
    this.#isFirst = false;
    if (line.length === 0) return this.#endEvent();
    this.#check(line.length);
    this.#bytes += line.length;
    if (line[0] !== COLON) this.#field(line);
    return undefined;
  }

  #field(line: Buffer): void {
    const colon = line.subarray(0, MAX_NAME_BYTES).indexOf(COLON);
    const name = line.toString('latin1', 0, colon < 0 ? Math.min(line.length, MAX_NAME_BYTES) : colon);
    const value = line.subarray(colon < 0 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1);
    if (name === 'data') {
      if (this.#hasData) this.#data.push(BREAK);
      this.#hasData = true;
      this.#data.push(value);
    } else if (name === 'event') this.#isMessage = value.length === 0 || value.toString('utf8') === 'message';
    else if (name === 'id' || name === 'retry') this.#position.set(name, value.toString('utf8'));
  }

  #endEvent(): StreamEvent | undefined {
    if (this.#bytes === 0) return undefined;
    const data = this.#data;
    const counts = this.#isMessage && data.length > 0;
    if (this.#hasData) this.#data = new ByteList();
    this.#hasData = false;
    this.#isMessage = true;
    this.#bytes = 0;
    return counts ? { position: this.#takePosition(), data: data.whole() } : undefined;
  }

  #takePosition(): string {
    if (this.#position.size === 0 || this.#bytes > 0) return '';
    const lines = [...this.#position].map(([name, value]) => `${name}: ${value}\n`);
    this.#position = new Map();
    return lines.join('');
  }

  #check(more: number): void {
    if (this.#bytes + more > this.#maxBytes) throw tooLarge(this.#maxBytes);
  }
}
