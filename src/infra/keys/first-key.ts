// The first key: made when nobody configured one, printed once, kept as a hash in the data directory.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createApiKey } from '../../lib/secrets/api-key.ts';
import { apiKey } from '../../settings/settings-schema.ts';
import type { StoredKey } from './known-key.ts';

export const FIRST_KEY_FILE = 'keys.json';

const keptKeySchema = z.array(apiKey).min(1, 'must hold at least one key');

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
  return parseKeys(path, text);
}

function parseKeys(path: string, text: string): readonly StoredKey[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw unusable(path, 'it is no JSON', error);
  }
  const { data, error } = keptKeySchema.safeParse(content);
  if (error !== undefined) {
    const [issue] = error.issues;
    throw unusable(path, `${issue?.path.join('.') || 'it'}: ${issue?.message ?? ''}`, error);
  }
  return data;
}

function unusable(path: string, why: string, cause: unknown): Error {
  return new Error(
    `${path} cannot be used: ${why}. It holds the key that was made at the first start: bring back a copy, or remove it to have a new key made.`,
    { cause },
  );
}
