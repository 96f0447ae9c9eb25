// GroupBytes: the bytes of a group of lines, in memory that the next group uses again.

const USUAL_BYTES = 1 << 17;

/** Memory of its own for each group, a thousand times a second, has V8 search its whole heap once a second. */
export class GroupBytes {
  readonly #shared = Buffer.allocUnsafeSlow(USUAL_BYTES);
  readonly #encoder = new TextEncoder();

  /** Good until it is asked again. */
  of(lines: readonly string[]): Uint8Array {
    const text = lines.join('');
    const { read, written } = this.#encoder.encodeInto(text, this.#shared);
    return read < text.length ? Buffer.from(text) : this.#shared.subarray(0, written);
  }
}
