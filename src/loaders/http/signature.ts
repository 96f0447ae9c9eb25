// The signature over a document's exact bytes: Ed25519 or HMAC-SHA256, carried by a header of the answer.
import { createHmac, createPublicKey, timingSafeEqual, verify, type KeyObject } from 'node:crypto';
import type { SignatureOptions } from './options.ts';

const MIN_HMAC_KEY_BYTES = 16;
const ED25519_KEY_BYTES = 32;
const SIGNATURE_BYTES = { ed25519: 64, 'hmac-sha256': 32 } as const;

export type SignatureAlgorithm = SignatureOptions['algorithm'];

/** Undefined: the bytes are signed with the key. Otherwise why not, completing "the document …". Throws for a bad key. */
export function signatureProblem(
  body: Buffer,
  written: string | undefined,
  { algorithm, key, header }: SignatureOptions,
): string | undefined {
  const isSigned = verifier(algorithm, key);
  if (written === undefined || written === '') return `is not signed: expected the header ${header}`;
  const bytes = signatureBytes(written, SIGNATURE_BYTES[algorithm]);
  if (bytes === undefined)
    return `has a signature that cannot be read: expected ${SIGNATURE_BYTES[algorithm]} bytes in base64 or hexadecimal`;
  return isSigned(body, bytes) ? undefined : 'is not signed with the key of this loader';
}

type Verifier = (body: Buffer, signature: Buffer) => boolean;

function verifier(algorithm: SignatureAlgorithm, key: string): Verifier {
  if (algorithm === 'ed25519') {
    const publicKey = ed25519Key(key);
    return (body, signature) => verify(null, body, publicKey, signature);
  }
  if (Buffer.byteLength(key) < MIN_HMAC_KEY_BYTES)
    throw new Error(`expected a secret of at least ${MIN_HMAC_KEY_BYTES} bytes`);
  return (body, signature) => timingSafeEqual(createHmac('sha256', key).update(body).digest(), signature);
}

function ed25519Key(key: string): KeyObject {
  const expected = 'expected an Ed25519 public key: PEM, or its 32 bytes in base64';
  let publicKey: KeyObject;
  try {
    publicKey = key.includes('-----BEGIN') ? createPublicKey(key) : fromRaw(key);
  } catch {
    throw new Error(expected);
  }
  if (publicKey.asymmetricKeyType !== 'ed25519') throw new Error(expected);
  return publicKey;
}

function fromRaw(key: string): KeyObject {
  const bytes = Buffer.from(key.trim(), 'base64');
  if (bytes.length !== ED25519_KEY_BYTES) throw new Error('not a key');
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

/** `sha256=…`, as webhooks write it, is good too. */
function signatureBytes(written: string, length: number): Buffer | undefined {
  const text = written.trim().replace(/^(?:sha256|ed25519)=/, '');
  if (text.length === length * 2 && /^[0-9A-Fa-f]+$/.test(text)) return Buffer.from(text, 'hex');
  if (!/^[A-Za-z0-9+/_-]{1,128}={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length ? bytes : undefined;
}
