// Text files of an operator: read whole, UTF-8, no larger than they may be; a refusal is half a sentence.
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

const MAX_FILE_BYTES = 64 * 1024 * 1024;

export type ReadText = { readonly text: string } | { readonly message: string };

/** UTF-8 without its byte order mark. Never throws: the message completes "the file …". */
export async function readText(file: string, maxBytes = MAX_FILE_BYTES): Promise<ReadText> {
  try {
    const about = await stat(file);
    if (!about.isFile()) return { message: 'is not a regular file' };
    if (about.size > maxBytes) return { message: `is larger than ${maxBytes} bytes` };
    const bytes = await readFile(file);
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { message: reasonOf(error) };
  }
}

const MAX_SECRET_BYTES = 1024 * 1024;

export function readSecret(file: string): Promise<ReadText> {
  return readText(file, MAX_SECRET_BYTES);
}

export function hashOf(read: ReadText): string {
  return 'text' in read ? hash('sha256', read.text) : read.message;
}

/** Completes "the file …". */
export function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'is not UTF-8 text';
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'must not be read by this process';
  return `cannot be read: ${message}`;
}
