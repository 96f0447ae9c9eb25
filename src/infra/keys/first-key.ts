// The first key: made when nobody configured one, printed once, kept as a hash in the data directory.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApiKey } from '../../lib/api-key.ts';
import type { StoredKey } from './api-key-authenticator.ts';

export const FIRST_KEY_FILE = 'keys.json';

/** The keys of the data directory. `printed` gets the text of a key made just now; it is never seen again. */
export function dataDirKeys(dataDir: string, printed: (key: string) => void): readonly StoredKey[] {
  const path = join(dataDir, FIRST_KEY_FILE);
  const kept = readKeys(path);
  if (kept !== undefined) return kept.map(ofPlatform);
  const key = createApiKey();
  const stored: StoredKey = {
    id: key.id,
    secret_sha256: key.secretHash.toString('hex'),
    tenant: 'default',
    agents: ['*'],
    roles: ['admin'],
  };
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // wx: of two processes that start at once, one makes the key and the other fails loudly.
  writeFileSync(path, `${JSON.stringify([stored], null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  printed(key.text);
  return [ofPlatform(stored)];
}

/** Whoever starts a gateway without any key has it whole: there is nobody else to administer it. */
function ofPlatform(key: StoredKey): StoredKey {
  return { ...key, platform: true };
}

/** Those that are there; none is made. */
export function keptKeys(dataDir: string): readonly StoredKey[] {
  return (readKeys(join(dataDir, FIRST_KEY_FILE)) ?? []).map(ofPlatform);
}

function readKeys(path: string): readonly StoredKey[] | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const keys: unknown = JSON.parse(text);
  if (!Array.isArray(keys)) throw new Error(`${path}: expected a list of keys`);
  return keys as StoredKey[];
}
