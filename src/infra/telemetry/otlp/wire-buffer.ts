// WireBuffer: fields of protocol buffers, written one behind another into bytes that grow.
const FIRST_BYTES = 65_536;
/** Longer texts are quicker to write by the system's own code than one character after another. */
const SHORT_TEXT = 64;
const LARGEST_UINT32 = 0xffff_ffff;

export class WireBuffer {
  #bytes: Buffer;
  #end = 0;

  /** `firstBytes`: what it holds before it grows. */
  constructor(firstBytes = FIRST_BYTES) {
    this.#bytes = Buffer.allocUnsafeSlow(firstBytes);
  }

  get length(): number {
    return this.#end;
  }

  /** Asked before each field or message: whatever is written then checks no more. */
  makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#end + bytes));
    this.#bytes.copy(grown, 0, 0, this.#end);
    this.#bytes = grown;
  }

  /** Less than 256: a tag with its wire type, a flag, or a short length. */
  byte(value: number): void {
    this.#bytes[this.#end++] = value;
  }

  /** 0 to 2^53. */
  varint(value: number): void {
    let rest = value;
    for (; rest > LARGEST_UINT32; rest = Math.floor(rest / 128))
      this.#bytes[this.#end++] = (rest % 128) | 0x80;
    for (; rest > 127; rest >>>= 7) this.#bytes[this.#end++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#end++] = rest;
  }

  fixed32(value: number): void {
    this.#end = this.#bytes.writeUInt32LE(value, this.#end);
  }

  fixed64(value: bigint): void {
    this.#end = this.#bytes.writeBigUInt64LE(value, this.#end);
  }

  double(value: number): void {
    this.#end = this.#bytes.writeDoubleLE(value, this.#end);
  }

  /** `digits` hexadecimal ones, as bytes behind their length. Throws of anything else. */
  hex(text: string, digits: number): void {
    this.varint(digits / 2);
    const written = this.#bytes.write(text, this.#end, 'hex');
    if (written !== digits / 2) throw new RangeError(`expected ${digits} hexadecimal digits`);
    this.#end += written;
  }

  /** `size`: what `sizeOfText` says of it. */
  text(text: string, size: number): void {
    this.varint(size);
    if (size !== text.length || size > SHORT_TEXT) {
      this.#end += this.#bytes.write(text, this.#end, 'utf8');
      return;
    }
    for (let at = 0; at < size; at += 1) this.#bytes[this.#end++] = text.charCodeAt(at);
  }

  raw(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Begins a message of which the length is not known yet: `close` is given where it begins. */
  open(): number {
    this.#end += LIKELY_LENGTH_BYTES;
    return this.#end;
  }

  close(from: number): void {
    const size = this.#end - from;
    const start = from - LIKELY_LENGTH_BYTES;
    const shift = sizeOfVarint(size) - LIKELY_LENGTH_BYTES;
    if (shift !== 0) this.#bytes.copyWithin(from + shift, from, this.#end);
    this.#end = start;
    this.varint(size);
    this.#end += size;
  }

  /** Back to a length that it had. */
  cutTo(length: number): void {
    this.#end = length;
  }

  /** A copy of all that was written, which is forgotten. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#end));
    this.#end = 0;
    return taken;
  }
}

/** Of 128 to 16,383 bytes, as most spans have. */
const LIKELY_LENGTH_BYTES = 2;

export function sizeOfVarint(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

/** In bytes of UTF-8. */
export function sizeOfText(text: string): number {
  if (text.length > SHORT_TEXT) return Buffer.byteLength(text);
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}
