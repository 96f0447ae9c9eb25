// What settings say of who is let in, read by itself: a mistake elsewhere in the file keeps no key in force that was taken out of it.
import { auth } from './auth-settings.ts';
import type { Settings } from './settings-schema.ts';

/**
 * Undefined unless the file lists its keys, and the whole section is right: a file that says nothing of keys while it has other
 * mistakes is one that is being written. `said`: the file alone; `values`: with the environment over it.
 */
export function authAlone(
  said: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>>,
): Settings['auth'] | undefined {
  if (!listsKeys(said['auth'])) return undefined;
  // A setting that has lost its indentation belongs to auth: without it a key could do more, or nobody be left.
  if (Object.keys(said).some((name) => Object.hasOwn(auth.shape, name))) return undefined;
  return auth.safeParse(values['auth']).data;
}

function listsKeys(section: unknown): boolean {
  return typeof section === 'object' && section !== null && 'keys' in section && Array.isArray(section.keys);
}
