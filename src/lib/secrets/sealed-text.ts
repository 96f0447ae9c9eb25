// Sealed text: a secret under a key of its own (AES-256-GCM), and that key wrapped by one of the operator's. One line of text.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A data key as a key of the operator's has wrapped it. */
export interface WrappedKey {
  /** Which key of the operator's. */
  readonly keyId: string;
  readonly wrapped: Buffer;
}

export interface SealedText extends WrappedKey {
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
  readonly tag: Buffer;
}

export const KEY_ID = /^[A-Za-z0-9_-]{1,64}$/;
export const KEY_BYTES = 32;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Node takes a tag of four bytes where nothing is said. */
const TAG = { authTagLength: TAG_BYTES } as const;
const VERSION = 'v1';
const PART = /^[A-Za-z0-9_-]*$/;

type Encrypted = Pick<SealedText, 'nonce' | 'ciphertext' | 'tag'>;

/** `place`: what the text belongs to; it can be read for no other one. */
export function encrypt(key: Buffer, plain: Buffer, place: string): Encrypted {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, TAG).setAAD(Buffer.from(place, 'utf8'));
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return { nonce, ciphertext, tag: cipher.getAuthTag() };
}

/** Undefined: it was changed, belongs to another place, or is under another key. */
export function decrypt(
  key: Buffer,
  { nonce, ciphertext, tag }: Encrypted,
  place: string,
): Buffer | undefined {
  if (nonce.length !== NONCE_BYTES || tag.length !== TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce, TAG)
      .setAAD(Buffer.from(place, 'utf8'))
      .setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** A wrapped key in one piece: nonce, ciphertext, tag. */
export function wrapKey(key: Buffer, dataKey: Buffer, keyId: string): Buffer {
  const { nonce, ciphertext, tag } = encrypt(key, dataKey, `${VERSION}|${keyId}`);
  return Buffer.concat([nonce, ciphertext, tag]);
}

/** Undefined as of `decrypt`. */
export function unwrapKey(key: Buffer, { keyId, wrapped }: WrappedKey): Buffer | undefined {
  const nonce = wrapped.subarray(0, NONCE_BYTES);
  const ciphertext = wrapped.subarray(NONCE_BYTES, -TAG_BYTES);
  const tag = wrapped.subarray(Math.max(NONCE_BYTES, wrapped.length - TAG_BYTES));
  const dataKey = decrypt(key, { nonce, ciphertext, tag }, `${VERSION}|${keyId}`);
  return dataKey?.length === KEY_BYTES ? dataKey : undefined;
}

export function newDataKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/** `v1.<key>.<wrapped data key>.<nonce>.<ciphertext>.<tag>` */
export function writeSealed({ keyId, wrapped, nonce, ciphertext, tag }: SealedText): string {
  const parts = [wrapped, nonce, ciphertext, tag].map((part) => part.toString('base64url'));
  return [VERSION, keyId, ...parts].join('.');
}

/** Undefined: it is none. */
export function readSealed(text: string): SealedText | undefined {
  const [version, keyId = '', wrapped, nonce, ciphertext, tag, ...rest] = text.split('.');
  if (version !== VERSION || !KEY_ID.test(keyId) || rest.length > 0) return undefined;
  if (wrapped === undefined || nonce === undefined || ciphertext === undefined || tag === undefined)
    return undefined;
  if (![wrapped, nonce, ciphertext, tag].every((part) => PART.test(part))) return undefined;
  const bytes = (part: string) => Buffer.from(part, 'base64url');
  return {
    keyId,
    wrapped: bytes(wrapped),
    nonce: bytes(nonce),
    ciphertext: bytes(ciphertext),
    tag: bytes(tag),
  };
}
