// The token by which a client goes on with its stream: which stream it is, and a secret that nobody can guess.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 24;
const TOKEN = /^ute_stream_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_([\w-]{32})$/;

export interface NewToken {
  readonly text: string;
  /** What is kept of it. */
  readonly hash: string;
}

export function newToken(streamId: string): NewToken {
  const text = `ute_stream_${streamId}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  return { text, hash: hashOf(text) };
}

/** Undefined: it is none of ours. */
export function streamOf(token: string): string | undefined {
  return TOKEN.exec(token)?.[1];
}

export function isTokenOf(token: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(token), 'hex'), Buffer.from(hash, 'hex'));
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
