// The chain of a tenant: each record's hash covers the record, where it stands, and the hash of the one before.
import { hash } from 'node:crypto';
import { grownMemory } from '../bytes/grown-memory.ts';

/** What the first record of a chain is chained to. */
export const FIRST_PREVIOUS = '0'.repeat(64);

export interface Place {
  readonly previous: string;
  /** ISO 8601 with milliseconds: when it was chained, by the database's clock. */
  readonly recordedAt: string;
  readonly seq: number;
  readonly tenant: string;
}

/**
 * SHA-256 over a zero byte and canonical JSON, in hex. `record` is canonical JSON already. The byte keeps what is hashed
 * here apart from what is hashed elsewhere: personal data (1) and checkpoints (2).
 */
export function chainHash(record: string, { previous, recordedAt, seq, tenant }: Place): string {
  return hash(
    'sha256',
    `${BEFORE}${previous}${BETWEEN}${record}${AT}${recordedAt}${SEQ}${seq}${OF}${JSON.stringify(tenant)}}`,
  );
}

const BEFORE = '\0{"previous":"';
const BETWEEN = '","record":';
const AT = ',"recorded_at":"';
const SEQ = '","seq":';
const OF = ',"tenant":';

/** Hashes of many records, as chainHash, that are there as bytes: none of them becomes a string. */
export class ChainHashes {
  /** What is hashed, one after another. */
  static #memory: Buffer = Buffer.allocUnsafeSlow(2_048);
  readonly #recordedAt: string;
  readonly #tenant: string;

  /** Of records of one chain that are chained at one time. */
  constructor({ recordedAt, tenant }: Pick<Place, 'recordedAt' | 'tenant'>) {
    this.#recordedAt = `}${AT}${recordedAt}${SEQ}`;
    this.#tenant = `${OF}${JSON.stringify(tenant)}}`;
  }

  /** Of the canonical JSON from `start` to `end`, and a closing brace. */
  ofOpen(
    bytes: Buffer,
    start: number,
    end: number,
    { previous, seq }: Pick<Place, 'previous' | 'seq'>,
  ): string {
    const first = `${BEFORE}${previous}${BETWEEN}`;
    const last = `${this.#recordedAt}${seq}${this.#tenant}`;
    // Nothing but the name of the tenant may be more than ASCII.
    const most = first.length + (end - start) + 3 * last.length;
    const memory = (ChainHashes.#memory = grownMemory(ChainHashes.#memory, 0, most));
    let length = memory.write(first, 0, 'latin1');
    length += bytes.copy(memory, length, start, end);
    length += memory.write(last, length);
    return hash('sha256', memory.subarray(0, length));
  }
}

/**
 * Of the personal data of a record, as canonical JSON, in hex. The salt makes it no use to try names: who has no salt has
 * nothing to compare with.
 */
export function personalHash(salt: string, data: string): string {
  return hash('sha256', `\u0001${salt}${data}`);
}
