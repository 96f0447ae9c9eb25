// The key that seals sensitive values in recordings: made at its first use, kept in the data directory, told to nobody.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../../lib/files/make-folders.ts';

export interface Seal {
  /** Tells keys apart, and nothing else about them. */
  readonly id: string;
  seal(text: string): string;
}

const SEALED = /^hmac-sha256:[0-9a-f]{64}$/;

/** What a sealed value is where the key that sealed it is not at hand: as good as any other. */
export const SEALED_UNKNOWN = 'hmac-sha256:unknown';

export function isSealed(text: string): boolean {
  return SEALED.test(text);
}

/** Touches nothing before it is used. Throws Error where the key can be neither read nor made. */
export class FileSeal implements Seal {
  readonly #path: string;
  #key: Buffer | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  get id(): string {
    return createHash('sha256').update('seal id').update(this.#bytes()).digest('hex').slice(0, 16);
  }

  seal(text: string): string {
    return `hmac-sha256:${createHmac('sha256', this.#bytes()).update(text).digest('hex')}`;
  }

  #bytes(): Buffer {
    return (this.#key ??= readKey(this.#path) ?? makeKey(this.#path));
  }
}

function readKey(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if (/^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, 'hex');
  throw new Error(`${path}: expected 64 hexadecimal digits, the key that seals recordings`);
}

function makeKey(path: string): Buffer {
  const key = randomBytes(32);
  makeFolders(dirname(path), 0o700);
  try {
    // wx: of two processes that start at once, one makes the key and the other reads it.
    writeFileSync(path, `${key.toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const made = (error as NodeJS.ErrnoException).code === 'EEXIST' ? readKey(path) : undefined;
    if (made === undefined) throw error;
    return made;
  }
  return key;
}
