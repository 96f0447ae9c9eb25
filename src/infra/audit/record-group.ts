// RecordGroup: records that are written with one sync, as the bytes of their lines.
import { grownMemory } from '../../lib/bytes/grown-memory.ts';

const USUAL_BYTES = 1 << 17;
/** More is needed where the disk is slow, and given back afterwards. */
const MOST_KEPT_BYTES = 1 << 20;
/** Of a UTF-16 unit in UTF-8, at most. */
const BYTES_OF_UNIT = 3;

/**
 * A line becomes bytes when it is added, while all its parts are in the caches of the processor: for a group as a whole it took
 * twice as long. The memory is used again: new memory for each group, hundreds of times a second, has V8 search its whole heap once
 * a second.
 */
export class RecordGroup {
  /** Of whoever waits for the disk, all together. Undefined: nobody does. */
  synced: PromiseWithResolvers<void> | undefined;
  #memory: Buffer = Buffer.allocUnsafeSlow(USUAL_BYTES);
  #length = 0;
  #records = 0;
  #characters = 0;

  get records(): number {
    return this.#records;
  }

  /** UTF-16 units of all lines. */
  get characters(): number {
    return this.#characters;
  }

  /** Good until something is added, or it is emptied. */
  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#length);
  }

  /** With its end. */
  add(line: string): void {
    this.#memory = grownMemory(this.#memory, this.#length, BYTES_OF_UNIT * line.length);
    this.#length += this.#memory.write(line, this.#length);
    this.#records += 1;
    this.#characters += line.length;
  }

  /** Behind what is there. */
  addAll(other: RecordGroup): void {
    const { bytes } = other;
    this.#memory = grownMemory(this.#memory, this.#length, bytes.length);
    this.#memory.set(bytes, this.#length);
    this.#length += bytes.length;
    this.#records += other.records;
    this.#characters += other.characters;
  }

  /** For the next records. */
  empty(): void {
    this.synced = undefined;
    this.#length = 0;
    this.#records = 0;
    this.#characters = 0;
    if (this.#memory.length > MOST_KEPT_BYTES) this.#memory = Buffer.allocUnsafeSlow(USUAL_BYTES);
  }
}
