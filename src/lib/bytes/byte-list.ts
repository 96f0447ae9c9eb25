// ByteList: bytes that come in pieces, kept in about as much memory as they are long. A piece of a few bytes may be a view of
// a buffer of 64 KiB that would stay with it, and a million of them would be a million objects: such pieces are copied together.

/** What is at least so long, and most of what it is a view of, is kept as it came. */
const LONG_BYTES = 4 * 1024;
const MAX_WASTE = 4;
const BLOCK_BYTES = 16 * 1024;

export class ByteList {
  readonly #parts: Buffer[] = [];
  /** Where short pieces go; what is used of it is the last part. */
  #block: Buffer | undefined;
  #used = 0;
  #length = 0;
  /** The first piece is mostly the only one: it is copied when another comes. */
  #isFirstAsItCame = false;

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#isFirstAsItCame) {
      this.#isFirstAsItCame = false;
      this.#copy(this.#parts.pop() as Buffer);
    }
    if (piece.length >= LONG_BYTES && piece.buffer.byteLength <= piece.length * MAX_WASTE) {
      this.#block = undefined;
      this.#parts.push(piece);
    } else if (this.#parts.length === 0) {
      this.#isFirstAsItCame = true;
      this.#parts.push(piece);
    } else this.#copy(piece);
  }

  /** All of it; the very piece where there was one alone. */
  whole(): Buffer {
    const [only = Buffer.alloc(0)] = this.#parts;
    return this.#parts.length > 1 ? Buffer.concat(this.#parts, this.#length) : only;
  }

  /** At least `bytes` from its beginning, or all there is. */
  beginning(bytes: number): Buffer {
    const parts: Buffer[] = [];
    let taken = 0;
    for (const part of this.#parts) {
      if (taken >= bytes) break;
      parts.push(part);
      taken += part.length;
    }
    return Buffer.concat(parts);
  }

  /** Lets go of what it can from the beginning, so that at least `bytes` are left. */
  shorten(bytes: number): void {
    let gone = 0;
    for (const { length } of this.#parts) {
      if (this.#length - length < bytes) break;
      this.#length -= length;
      gone += 1;
    }
    if (gone === 0) return;
    this.#parts.splice(0, gone);
    if (this.#parts.length === 0) this.clear();
  }

  clear(): void {
    this.#parts.length = 0;
    this.#block = undefined;
    this.#length = 0;
    this.#isFirstAsItCame = false;
  }

  #copy(piece: Buffer): void {
    for (let from = 0; from < piece.length;) {
      const block = this.#openBlock();
      const copied = piece.copy(block, this.#used, from);
      from += copied;
      this.#used += copied;
      this.#parts[this.#parts.length - 1] = block.subarray(0, this.#used);
      if (this.#used === BLOCK_BYTES) this.#block = undefined;
    }
  }

  #openBlock(): Buffer {
    if (this.#block !== undefined) return this.#block;
    this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#used = 0;
    this.#parts.push(this.#block.subarray(0, 0));
    return this.#block;
  }
}
