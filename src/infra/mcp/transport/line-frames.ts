// LineFrames: cuts what a server writes into lines. Of one that is too long, its beginning is kept, and as much of its end as
// a line may have: enough to see which request it answers, and to find an answer behind what has no line end of its own.
import { ByteList } from '../../../lib/bytes/byte-list.ts';

const LINE_FEED = 0x0a;
const HEAD_BYTES = 512;

export interface FrameListener {
  frame(line: Buffer): void;
  /** A line longer than the limit is over. `tail` is at most as long as a line may be. */
  tooLong(head: Buffer, tail: Buffer): void;
  /** A line is so long that there seems to be no end to it. */
  endless(): void;
}

export class LineFrames {
  readonly #maxBytes: number;
  readonly #endlessBytes: number;
  readonly #listener: FrameListener;
  /** Of the line that is not over; once it is too long, of its end alone. */
  readonly #kept = new ByteList();
  #bytes = 0;
  #head: Buffer | undefined;
  /** Bytes of the line that may still come. */
  #left: number;

  constructor(maxBytes: number, endlessBytes: number, listener: FrameListener) {
    this.#maxBytes = maxBytes;
    this.#endlessBytes = endlessBytes;
    this.#listener = listener;
    this.#left = endlessBytes;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      this.#add(chunk.subarray(from, at));
      this.#end();
      from = at + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  /** Something new was asked of the server: what it wrote before does not count against that. */
  asked(): void {
    this.#left = this.#endlessBytes;
  }

  #add(part: Buffer): void {
    const before = this.#left;
    this.#left -= part.length;
    this.#bytes += part.length;
    this.#kept.push(part);
    if (this.#bytes > this.#maxBytes) this.#cut();
    if (this.#left < 0 && before >= 0) this.#listener.endless();
  }

  /** Whole parts go first: what is kept is never less than a line may have, and a part more at most. */
  #cut(): void {
    this.#head ??= Buffer.from(this.#kept.beginning(HEAD_BYTES).subarray(0, HEAD_BYTES));
    this.#kept.shorten(this.#maxBytes);
  }

  #end(): void {
    const head = this.#head;
    const whole = this.#kept.whole();
    this.#kept.clear();
    this.#bytes = 0;
    this.#head = undefined;
    this.#left = this.#endlessBytes;
    if (head === undefined) this.#listener.frame(whole);
    else this.#listener.tooLong(head, whole.subarray(-this.#maxBytes));
  }
}
