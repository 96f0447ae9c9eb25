// GroupBytes: the bytes of a group of lines, in memory that the next group uses again.
export interface SizedLine {
  readonly line: string;
  /** Of the line as UTF-8. */
  readonly bytes: number;
}

const USUAL_BYTES = 1 << 17;

/** Memory of its own for each group, a thousand times a second, has V8 search its whole heap once a second. */
export class GroupBytes {
  readonly #shared = Buffer.allocUnsafeSlow(USUAL_BYTES);

  /** Good until it is asked again. */
  of(group: readonly SizedLine[]): Uint8Array {
    const text = group.map(({ line }) => line).join('');
    const size = group.reduce((sum, { bytes }) => sum + bytes, 0);
    if (size > this.#shared.length) return Buffer.from(text);
    this.#shared.write(text);
    return this.#shared.subarray(0, size);
  }
}
