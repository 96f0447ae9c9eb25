// The key that signs checkpoints: a file that the database's users cannot read, made at the first start; its public half beside it.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { link, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Log } from '../../../ports/telemetry/log.ts';
import { makeFolders } from '../../../lib/files/make-folders.ts';
import { keyIdOf } from '../../../lib/audit-chain/checkpoint.ts';

export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

/** `isOwn`: it is made where it is missing. Throws Error with a sentence for the operator. */
export async function openSigningKey(path: string, isOwn: boolean, log: Log): Promise<SigningKey> {
  if (isOwn) await makeWhereMissing(path);
  const privateKey = await readKey(path);
  const publicKey = createPublicKey(privateKey);
  if (isOwn) await writePublicHalf(`${path}.pub`, publicKey);
  else if (((await stat(path)).mode & 0o077) !== 0)
    log.warn({ path }, 'audit.checkpoint_key_file can be read by others: give it the mode 0600');
  return { id: keyIdOf(publicKey), privateKey };
}

async function readKey(path: string): Promise<KeyObject> {
  let key: KeyObject;
  try {
    key = createPrivateKey(await readFile(path));
  } catch (error) {
    throw new Error(`the key of audit checkpoints, ${path}, cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Error(
    `the key of audit checkpoints, ${path}, must be a private Ed25519 key, found ${key.asymmetricKeyType}`,
  );
}

/** Whole or not at all, and by one process of those that start at once. */
async function makeWhereMissing(path: string): Promise<void> {
  if (await stat(path).catch(() => undefined)) return;
  makeFolders(dirname(path), 0o700);
  const folder = await mkdtemp(join(dirname(path), '.key-'));
  try {
    const made = join(folder, 'key');
    const { privateKey } = generateKeyPairSync('ed25519');
    await writeFile(made, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flush: true });
    await link(made, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writePublicHalf(path: string, publicKey: KeyObject): Promise<void> {
  const text = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const there = await readFile(path, 'utf8').catch(() => undefined);
  if (there !== text) await writeFile(path, text, { mode: 0o644 });
}
