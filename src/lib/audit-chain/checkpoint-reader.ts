// CheckpointReader: a file of checkpoints, line by line; each signature is checked, those of one tenant are given. Each names the one
// before it, which may stand in the file of another replica.
import type { KeyObject } from 'node:crypto';
import { checkpointId, isSigned, keyIdOf, readCheckpoint, type Checkpoint } from './checkpoint.ts';
import { found, type Finding } from './finding.ts';

export type Lines = AsyncIterable<string>;

/** How many before a checkpoint its predecessor may lie in each file: one that the database did not keep stays there. */
const REMEMBERED = 16;

/** The last checkpoints that were taken of all files of one check. */
export class TakenCheckpoints {
  readonly #ids = new Set<string>();
  readonly #most: number;

  constructor(files: number) {
    this.#most = files * REMEMBERED;
  }

  add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > this.#most && oldest !== undefined) this.#ids.delete(oldest);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}

/** One whose predecessor has not been taken by then. It may be another file's of the same number: to be asked for again after those. */
export interface Unfollowed {
  readonly previous: string;
  readonly finding: Finding;
}

export class CheckpointReader {
  /** How many a record was held to. */
  held = 0;
  /** How many stood behind one of a later record, so that their own had gone by. */
  passed = 0;
  readonly #lines: AsyncIterator<string>;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #taken: TakenCheckpoints;
  #next: Checkpoint | Finding | undefined;
  #lastSeq = 0;
  #number = 0;
  /** What stands before the first of the tenant in this file may be in one that was not given. */
  #isFirst = true;

  constructor(lines: Lines, keys: readonly KeyObject[], taken: TakenCheckpoints) {
    this.#lines = lines[Symbol.asyncIterator]();
    this.#keys = new Map(keys.map((key) => [keyIdOf(key), key]));
    this.#taken = taken;
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

  take(checkpoint: Checkpoint): Unfollowed | undefined {
    this.#next = undefined;
    const { seq, previous } = checkpoint;
    this.#taken.add(checkpointId(checkpoint));
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst || previous === '' || this.#taken.has(previous)) return undefined;
    const message = `line ${this.#number} of the checkpoints follows one that was taken out of them, or is in a file that was not given`;
    return { previous, finding: found('missing', seq, message) };
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
    return checkpoint;
  }
}
