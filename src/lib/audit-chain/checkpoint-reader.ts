// CheckpointReader: a file of checkpoints, line by line; each signature is checked, those of one tenant are given.
import type { KeyObject } from 'node:crypto';
import { checkpointId, isSigned, keyIdOf, readCheckpoint, type Checkpoint } from './checkpoint.ts';
import { found, type Finding } from './finding.ts';

export type Lines = AsyncIterable<string>;

/** How many before a checkpoint its predecessor may lie: one that the database did not keep stays in the file. */
const REMEMBERED = 16;

export class CheckpointReader {
  /** How many a record was held to. */
  held = 0;
  /** How many stood behind one of a later record, so that their own had gone by. */
  passed = 0;
  readonly #lines: AsyncIterator<string>;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  #next: Checkpoint | Finding | undefined;
  #lastSeq = 0;
  #number = 0;
  /** Ids of the last ones of each tenant. */
  readonly #ids = new Map<string, readonly string[]>();

  constructor(lines: Lines, keys: readonly KeyObject[]) {
    this.#lines = lines[Symbol.asyncIterator]();
    this.#keys = new Map(keys.map((key) => [keyIdOf(key), key]));
  }

  /** The next of the tenant, undefined: of any; or the first that cannot be believed, of whomever it says it is. Undefined at the end. */
  async peek(tenant: string | undefined): Promise<Checkpoint | Finding | undefined> {
    while (this.#next === undefined) {
      const { done, value } = await this.#lines.next();
      if (done === true) return undefined;
      this.#number += 1;
      const read = this.#read(value);
      if ('damage' in read || tenant === undefined || read.tenant === tenant) this.#next = read;
    }
    return this.#next;
  }

  take(): void {
    this.#next = undefined;
  }

  #read(line: string): Checkpoint | Finding {
    const checkpoint = readCheckpoint(line);
    const bad = (seq: number, why: string) =>
      found('bad_signature', seq, `line ${this.#number} of the checkpoints ${why}`);
    if (checkpoint === undefined) return bad(this.#lastSeq, 'is not as it was written');
    const { seq, key } = checkpoint;
    const publicKey = this.#keys.get(key);
    if (publicKey === undefined) return bad(seq, `is signed by the key ${key}, which was not given`);
    if (!isSigned(checkpoint, publicKey)) return bad(seq, 'is not what was signed');
    this.#lastSeq = seq;
    if (this.#follows(checkpoint)) return checkpoint;
    return found(
      'missing',
      seq,
      `line ${this.#number} of the checkpoints follows one that was taken out of them`,
    );
  }

  /** What stands before the first of a tenant in this file may be in another one. */
  #follows(checkpoint: Checkpoint): boolean {
    const { tenant, previous } = checkpoint;
    const before = this.#ids.get(tenant) ?? [];
    this.#ids.set(tenant, [...before.slice(1 - REMEMBERED), checkpointId(checkpoint)]);
    return before.length === 0 || previous === '' || before.includes(previous);
  }
}
