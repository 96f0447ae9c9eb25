// BinaryRows: rows in the binary format of PostgreSQL's COPY: it reads them a quarter cheaper than text, and nothing is escaped.
import { grownMemory } from '../../../lib/bytes/grown-memory.ts';

/** The signature, and two numbers that are zero: no flags, nothing more of a header. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = -1;
const NULL = -1;
/** The version of its format that stands before a jsonb. */
const JSONB = '\u0001';
/** PostgreSQL counts microseconds from the year 2000. */
const YEAR_2000 = Date.UTC(2000, 0, 1);
/** Up to here a loop is faster than what Node does. */
const SHORT = 64;
const NOT_HEX = 0xff;
const HALF = 2 ** 32;

const HEX = new Uint8Array(128).fill(NOT_HEX);
const LOWER_HEX = new Uint8Array(128).fill(NOT_HEX);
for (let value = 0; value < 16; value += 1) {
  const digit = value.toString(16);
  HEX[digit.charCodeAt(0)] = value;
  HEX[digit.toUpperCase().charCodeAt(0)] = value;
  LOWER_HEX[digit.charCodeAt(0)] = value;
}

/** Columns have to come in the order and with the types that the statement names: PostgreSQL converts nothing of them. */
export class BinaryRows {
  #bytes: Buffer;
  #view: DataView;
  #length = 0;
  /** So many bytes were asked for already. */
  #given = 0;

  /** `memory` is written over; where it is too small, more is taken. */
  constructor(memory: Buffer) {
    this.#bytes = memory;
    this.#view = viewOf(memory);
    this.#room(HEADER.length);
    this.#length += HEADER.copy(this.#bytes, this.#length);
  }

  row(columns: number): void {
    this.#room(2);
    this.#view.setInt16(this.#length, columns);
    this.#length += 2;
  }

  nothing(): void {
    this.#room(4);
    this.#size(NULL);
  }

  /** Throws SyntaxError where half of a surrogate pair has no bytes in UTF-8. */
  text(value: string): void {
    const { length } = value;
    this.#room(4 + 3 * length);
    const start = this.#length + 4;
    if (length <= SHORT && this.#ascii(value, start)) {
      this.#size(length);
      this.#length += length;
      return;
    }
    if (!value.isWellFormed()) throw new SyntaxError('half of a surrogate pair is no character');
    const written = this.#bytes.write(value, start);
    this.#size(written);
    this.#length += written;
  }

  /** Text that is there as bytes, in UTF-8. */
  utf8(bytes: Buffer, start: number, end: number): void {
    const size = end - start;
    this.#room(4 + size);
    this.#size(size);
    const own = this.#bytes;
    const shift = this.#length - start;
    if (size > SHORT) bytes.copy(own, this.#length, start, end);
    else for (let at = start; at < end; at += 1) own[at + shift] = bytes[at] as number;
    this.#length += size;
  }

  flag(value: boolean): void {
    this.#room(5);
    this.#size(1);
    this.#bytes[this.#length++] = value ? 1 : 0;
  }

  /** Of 32 bits. */
  integer(value: number): void {
    this.#room(8);
    this.#size(4);
    this.#view.setInt32(this.#length, value);
    this.#length += 4;
  }

  /** Of 64 bits: a safe integer. */
  long(value: number): void {
    this.#room(12);
    this.#size(8);
    this.#view.setInt32(this.#length, Math.floor(value / HALF));
    this.#view.setUint32(this.#length + 4, value % HALF);
    this.#length += 8;
  }

  double(value: number): void {
    this.#room(12);
    this.#size(8);
    this.#view.setFloat64(this.#length, value);
    this.#length += 8;
  }

  /** A timestamp with time zone, from epoch milliseconds. */
  time(ms: number): void {
    const us = (ms - YEAR_2000) * 1000;
    if (Number.isSafeInteger(us)) return this.long(us);
    this.#room(12);
    this.#size(8);
    this.#view.setBigInt64(this.#length, BigInt(ms - YEAR_2000) * 1000n);
    this.#length += 8;
  }

  /** As a bytea. Throws SyntaxError for anything but pairs of hexadecimal digits. */
  hex(digits: string): void {
    const size = digits.length >> 1;
    this.#room(4 + size);
    this.#size(size);
    const bytes = this.#bytes;
    let wrong = digits.length & 1;
    for (let at = 0; at < size; at += 1) {
      const high = HEX[digits.charCodeAt(2 * at)] ?? NOT_HEX;
      const low = HEX[digits.charCodeAt(2 * at + 1)] ?? NOT_HEX;
      wrong |= (high | low) >> 4;
      bytes[this.#length + at] = (high << 4) | low;
    }
    if (wrong !== 0) throw new SyntaxError('these are no hexadecimal digits');
    this.#length += size;
  }

  /** As a bytea, of digits that are there as bytes, in lower case. Throws SyntaxError as `hex`. */
  hexOf(bytes: Buffer, start: number, end: number): void {
    const size = (end - start) >> 1;
    this.#room(4 + size);
    this.#size(size);
    const own = this.#bytes;
    let wrong = (end - start) & 1;
    for (let at = 0; at < size; at += 1) {
      const high = LOWER_HEX[bytes[start + 2 * at] as number] ?? NOT_HEX;
      const low = LOWER_HEX[bytes[start + 2 * at + 1] as number] ?? NOT_HEX;
      wrong |= (high | low) >> 4;
      own[this.#length + at] = (high << 4) | low;
    }
    if (wrong !== 0) throw new SyntaxError('these are no hexadecimal digits');
    this.#length += size;
  }

  /** As a jsonb. */
  json(text: string): void {
    this.text(`${JSONB}${text}`);
  }

  /** For COPY: what was written since it was asked for before. Nothing of it is written over. */
  written(): Buffer {
    const from = this.#given;
    this.#given = this.#length;
    return this.#bytes.subarray(from, this.#length);
  }

  /** The rest, for COPY. Nothing can be added any more. */
  complete(): Buffer {
    this.#room(2);
    this.#view.setInt16(this.#length, TRAILER);
    this.#length += 2;
    return this.written();
  }

  /** The memory that it has by now, which may be written over once nobody reads the rows any more. */
  get memory(): Buffer {
    return this.#bytes;
  }

  #size(bytes: number): void {
    this.#view.setInt32(this.#length, bytes);
    this.#length += 4;
  }

  /** False: it is not ASCII alone, and what was written does not count. */
  #ascii(value: string, start: number): boolean {
    const bytes = this.#bytes;
    let all = 0;
    for (let at = 0; at < value.length; at += 1) {
      const code = value.charCodeAt(at);
      bytes[start + at] = code;
      all |= code;
    }
    return all < 0x80;
  }

  #room(bytes: number): void {
    const grown = grownMemory(this.#bytes, this.#length, bytes);
    if (grown === this.#bytes) return;
    this.#bytes = grown;
    this.#view = viewOf(grown);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
