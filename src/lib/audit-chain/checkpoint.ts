// A checkpoint: a signed statement that the chain of a tenant was at this hash then. Kept elsewhere, it cannot be made to fit.
import { hash, sign, verify, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';

export interface Statement {
  readonly tenant: string;
  readonly seq: number;
  /** Of the record of that number, in hex. */
  readonly hash: string;
  /** ISO 8601, by the database's clock. */
  readonly at: string;
  /** The id of the tenant's checkpoint before; empty of the first. */
  readonly previous: string;
  /** Which key has signed it. */
  readonly key: string;
}

export interface Checkpoint extends Statement {
  /** Ed25519, in hex. */
  readonly signature: string;
}

/** The byte in front keeps what is signed here apart from what is hashed elsewhere. */
function statedBytes({ tenant, seq, hash: of, at, previous, key }: Statement): Buffer {
  return Buffer.from(`\u0002${canonicalize({ tenant, seq, hash: of, at, previous, key }) ?? ''}`);
}

export function signCheckpoint(statement: Statement, privateKey: KeyObject): Checkpoint {
  return { ...statement, signature: sign(null, statedBytes(statement), privateKey).toString('hex') };
}

export function isSigned(checkpoint: Checkpoint, publicKey: KeyObject): boolean {
  return verify(null, statedBytes(checkpoint), publicKey, Buffer.from(checkpoint.signature, 'hex'));
}

export function checkpointId(statement: Statement): string {
  return hash('sha256', statedBytes(statement));
}

/** One line, canonical: as it is kept in the second place. */
export function checkpointLine({ tenant, seq, hash: of, at, previous, key, signature }: Checkpoint): string {
  return `${canonicalize({ tenant, seq, hash: of, at, previous, key, signature }) ?? ''}\n`;
}

const HASH = /^[0-9a-f]{64}$/;

/** Undefined: this is no checkpoint as it was written. */
export function readCheckpoint(line: string): Checkpoint | undefined {
  const said = parsed(line);
  if (said === undefined || `${line}\n` !== checkpointLine(said)) return undefined;
  const { tenant, seq, hash: of, at, previous, key, signature } = said;
  const texts = [tenant, of, at, previous, key, signature];
  const isOne =
    texts.every((text) => typeof text === 'string') &&
    Number.isSafeInteger(seq) &&
    HASH.test(of) &&
    /^[0-9a-f]{128}$/.test(signature);
  return isOne ? said : undefined;
}

function parsed(line: string): Checkpoint | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Checkpoint) : undefined;
  } catch {
    return undefined;
  }
}

/** By its public half: the same on every machine that has the key. */
export function keyIdOf(publicKey: KeyObject): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' })).slice(0, 16);
}
