// RecordGroup: records that are written with one sync, as the bytes of their lines.
import { grownMemory } from '../../lib/bytes/grown-memory.ts';
import type { RecordMaker, Unmade } from '../../ports/audit-sink.ts';

const USUAL_BYTES = 1 << 17;
/** More is needed where the disk is slow, and given back afterwards. */
const MOST_KEPT_BYTES = 1 << 20;
/** Of a UTF-16 unit in UTF-8, at most. */
const BYTES_OF_UNIT = 3;
/** What a line that is not made yet is counted as. */
export const LINE_CHARACTERS = 512;

/**
 * Records of calls are made all together, just before they are written: the processor then has the program for it in its caches. Made by
 * each call when it ended, between two other calls, a record took longer (ADR 77). A line becomes bytes when it is added, while all its
 * parts are in the caches too. The memory is used again: new memory for each group, hundreds of times a second, has V8 search its whole
 * heap once a second.
 */
export class RecordGroup {
  /** Of whoever waits for the disk, all together. Undefined: nobody does. */
  synced: PromiseWithResolvers<Unmade | undefined> | undefined;
  #makers: RecordMaker[] = [];
  #unmade: Map<RecordMaker, unknown> | undefined;
  #memory: Buffer = Buffer.allocUnsafeSlow(USUAL_BYTES);
  #length = 0;
  #lines = 0;
  #characters = 0;

  get records(): number {
    return this.#lines + this.#makers.length;
  }

  /** Nothing is to be written, and nobody waits to be told of what could not be made. */
  get isEmpty(): boolean {
    return this.records === 0 && this.synced === undefined;
  }

  /** Records that are not made yet. */
  get makers(): number {
    return this.#makers.length;
  }

  /** UTF-16 units of all lines. */
  get characters(): number {
    return this.#characters + LINE_CHARACTERS * this.#makers.length;
  }

  /** Of the lines that are made. Good until something is added, or it is emptied. */
  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#length);
  }

  /** Those for which `make` threw, with what it threw. */
  get unmade(): Unmade | undefined {
    return this.#unmade;
  }

  /** With its end. */
  add(line: string): void {
    this.#memory = grownMemory(this.#memory, this.#length, BYTES_OF_UNIT * line.length);
    this.#length += this.#memory.write(line, this.#length);
    this.#lines += 1;
    this.#characters += line.length;
  }

  addMaker(make: RecordMaker): void {
    this.#makers.push(make);
  }

  /** Makes what is not made yet, one alone or not at all. */
  make(lineOf: (make: RecordMaker) => string): void {
    const makers = this.#makers;
    if (makers.length === 0) return;
    this.#makers = [];
    for (const make of makers) {
      try {
        this.add(lineOf(make));
      } catch (error) {
        (this.#unmade ??= new Map()).set(make, error);
      }
    }
  }

  /** Everything of the other one behind what is there, whose own waiters have been told; the other one is empty then. */
  takeOver(other: RecordGroup): void {
    const { bytes } = other;
    this.#memory = grownMemory(this.#memory, this.#length, bytes.length);
    this.#memory.set(bytes, this.#length);
    this.#length += bytes.length;
    this.#lines += other.#lines;
    this.#characters += other.#characters;
    this.#makers.push(...other.#makers);
    this.#unmade = other.#unmade;
    this.synced = other.synced;
    other.empty();
  }

  /** For the next records. */
  empty(): void {
    this.synced = undefined;
    this.#makers = [];
    this.#unmade = undefined;
    this.#length = 0;
    this.#lines = 0;
    this.#characters = 0;
    if (this.#memory.length > MOST_KEPT_BYTES) this.#memory = Buffer.allocUnsafeSlow(USUAL_BYTES);
  }
}
