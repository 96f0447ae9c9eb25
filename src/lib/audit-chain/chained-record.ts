// The chain of a tenant: each record's hash covers the record, where it stands, and the hash of the one before.
import { hash } from 'node:crypto';

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
    `\0{"previous":"${previous}","record":${record},"recorded_at":"${recordedAt}","seq":${seq},"tenant":${JSON.stringify(tenant)}}`,
  );
}

/**
 * Of the personal data of a record, as canonical JSON, in hex. The salt makes it no use to try names: who has no salt has
 * nothing to compare with.
 */
export function personalHash(salt: string, data: string): string {
  return hash('sha256', `\u0001${salt}${data}`);
}
