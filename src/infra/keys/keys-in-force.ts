// Which keys beside those of the database are in force: those of gateway.yaml, or the one that was made where there was none.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../settings/settings-schema.ts';
import { isAdmin } from './api-key-authenticator.ts';
import { ADMIN_KEY_FILE, FIRST_KEY_FILE, keptKeys } from './first-key.ts';
import { configuredKeys, type StoredKey } from './known-key.ts';

/** Throws Error when a key names a role that is not there, or a file of the data directory cannot be used. */
export function keysInForce(settings: Settings, now: number): readonly StoredKey[] {
  const { auth, data_dir: dataDir } = settings;
  const first = auth.keys.length > 0 ? auth.keys : keptKeys(join(dataDir, FIRST_KEY_FILE));
  const known = [...configuredKeys(first, auth.roles).values()];
  if (known.some((key) => isAdmin(key, now))) return first;
  return [...first, ...keptKeys(join(dataDir, ADMIN_KEY_FILE))];
}

/** Where a key is kept that is made because none can make others. */
export function firstKeyPath({ auth, data_dir: dataDir }: Settings): string {
  const own = join(dataDir, FIRST_KEY_FILE);
  return auth.keys.length === 0 && !existsSync(own) ? own : join(dataDir, ADMIN_KEY_FILE);
}
