// API keys: `ute_live_<id>_<secret>_<checksum>`. Only a hash of the secret is ever kept.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'ute_live_';
/** 8 characters of id, 43 of base64url (32 bytes; may hold `_`), 8 hex digits of CRC-32 over all before it. */
const SHAPE = /^ute_live_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})_([0-9a-f]{8})$/;
const ID_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789';

export interface ShownKey {
  /** Public: safe to log. */
  readonly id: string;
  /** sha256 of the secret part, 32 bytes. */
  readonly secretHash: Buffer;
}

/** With the id of a key that is there: a new secret of it. */
export function createApiKey(id = newId()): ShownKey & { readonly text: string } {
  const secret = randomBytes(32).toString('base64url');
  const body = `${PREFIX}${id}_${secret}`;
  return { id, secretHash: hashOf(secret), text: `${body}_${checksumOf(body)}` };
}

/** Undefined: not the text of a key, or mistyped (the checksum tells without any look-up). */
export function parseApiKey(text: string): ShownKey | undefined {
  const [, id, secret, checksum] = SHAPE.exec(text) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  if (checksumOf(text.slice(0, -9)) !== checksum) return undefined;
  return { id, secretHash: hashOf(secret) };
}

/** Compares in constant time. Both are 32 bytes; anything else is never equal. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === 32 && b.length === 32 && timingSafeEqual(a, b);
}

function newId(): string {
  return Array.from(randomBytes(8), (byte) => ID_LETTERS[byte % ID_LETTERS.length]).join('');
}

function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
