// LineFrames: cuts what a server writes into lines. One that is too long is not kept, only its two ends: enough to see
// which request it answers.

const LINE_FEED = 0x0a;
const END_BYTES = 512;

export interface FrameListener {
  frame(line: Buffer): void;
  /** A line longer than the limit is over. */
  tooLong(head: Buffer, tail: Buffer): void;
  /** A line is so long that there seems to be no end to it. */
  endless(): void;
}

export class LineFrames {
  readonly #maxBytes: number;
  readonly #endlessBytes: number;
  readonly #listener: FrameListener;
  #parts: Buffer[] = [];
  #bytes = 0;
  #head: Buffer | undefined;
  #tail: Buffer = Buffer.alloc(0);

  constructor(maxBytes: number, endlessBytes: number, listener: FrameListener) {
    this.#maxBytes = maxBytes;
    this.#endlessBytes = endlessBytes;
    this.#listener = listener;
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

  #add(part: Buffer): void {
    const before = this.#bytes;
    this.#bytes += part.length;
    if (this.#head !== undefined) this.#tail = lastOf(this.#tail, part);
    else if (this.#bytes <= this.#maxBytes) this.#parts.push(part);
    else {
      const whole = Buffer.concat([...this.#parts, part]);
      this.#head = Buffer.from(whole.subarray(0, END_BYTES));
      this.#tail = lastOf(Buffer.alloc(0), whole);
      this.#parts = [];
    }
    if (this.#bytes > this.#endlessBytes && before <= this.#endlessBytes) this.#listener.endless();
  }

  #end(): void {
    const [head, tail, parts] = [this.#head, this.#tail, this.#parts];
    this.#parts = [];
    this.#bytes = 0;
    this.#head = undefined;
    this.#tail = Buffer.alloc(0);
    if (head !== undefined) this.#listener.tooLong(head, tail);
    else {
      const [only = Buffer.alloc(0)] = parts;
      this.#listener.frame(parts.length > 1 ? Buffer.concat(parts) : only);
    }
  }
}

/** A copy: the chunk itself is not to be kept. */
function lastOf(before: Buffer, part: Buffer): Buffer {
  const last = part.length >= END_BYTES ? part.subarray(-END_BYTES) : Buffer.concat([before, part]);
  return Buffer.from(last.subarray(-END_BYTES));
}
