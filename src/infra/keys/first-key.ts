// The first key: made when there is none that could make others, printed once, kept as a hash in the data directory.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { createApiKey } from '../../lib/secrets/api-key.ts';
import { apiKey } from '../../settings/auth-settings.ts';
import type { StoredKey } from './known-key.ts';

/** Of a gateway without keys in gateway.yaml. */
export const FIRST_KEY_FILE = 'keys.json';
/** Beside keys that are there, none of which can make another. */
export const ADMIN_KEY_FILE = 'admin-key.json';

const keptKeySchema = z.array(apiKey).min(1, 'must hold at least one key');

/** `printed` gets the text of the key, which is never seen again. Nothing is made over a file that is there. */
export function makeFirstKey(path: string, printed: (key: string) => void): void {
  if (existsSync(path)) return;
  const key = createApiKey();
  const stored: StoredKey = {
    id: key.id,
    secret_sha256: key.secretHash.toString('hex'),
    tenant: 'default',
    agents: ['*'],
    roles: ['admin'],
  };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // wx: of two processes that start at once, one makes the key and the other fails loudly.
  writeFileSync(path, `${JSON.stringify([stored], null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  printed(key.text);
}

/** Whoever starts a gateway without any key has it whole: there is nobody else to administer it. */
function ofPlatform(key: StoredKey): StoredKey {
  return { ...key, platform: true };
}

/** Those that are there; none is made. */
export function keptKeys(path: string): readonly StoredKey[] {
  return (readKeys(path) ?? []).map(ofPlatform);
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
    `${path} cannot be used: ${why}. It holds a key that was made at a start without any: bring back a copy, or remove it to have a new key made.`,
    { cause },
  );
}
