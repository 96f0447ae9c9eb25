// BodyBytes: an answer's body as it arrives. A long one is put into one buffer piece by piece: to put 64 MiB together at the
// end would take longer than the event loop may be held.
import { ByteList } from '../../lib/bytes/byte-list.ts';

const LONG_BYTES = 1024 * 1024;

export class BodyBytes {
  readonly #maxBytes: number;
  readonly #list = new ByteList();
  #buffer: Buffer | undefined;
  #length = 0;
  /** What the answer's header says of its length; 0 where it says nothing. */
  announced = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** False: that would be more than there may be. */
  push(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) return false;
    if (length <= LONG_BYTES) this.#list.push(chunk);
    else chunk.copy(this.#withCapacityFor(length), this.#length);
    this.#length = length;
    return true;
  }

  whole(): Buffer {
    return this.#buffer?.subarray(0, this.#length) ?? this.#list.whole();
  }

  #withCapacityFor(length: number): Buffer {
    if (this.#buffer !== undefined && this.#buffer.length >= length) return this.#buffer;
    const before = this.#buffer?.subarray(0, this.#length) ?? this.#list.whole();
    const size = Math.min(this.#maxBytes, Math.max(length, this.announced, before.length * 2));
    this.#buffer = Buffer.allocUnsafeSlow(size);
    before.copy(this.#buffer);
    this.#list.clear();
    return this.#buffer;
  }
}
