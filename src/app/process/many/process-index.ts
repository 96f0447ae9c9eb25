// Which of several processes this one is, and what of the settings is its own.
import { join } from 'node:path';
import type { Settings } from '../../../settings/settings-schema.ts';

/** The primary tells each process by this. */
export const PROCESS_VARIABLE = 'UTE_PROCESS';

/** From 1; undefined: this process was started by nobody who holds ports for it. */
export function processIndexOf(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const index = Number(env[PROCESS_VARIABLE]);
  return process.send !== undefined && Number.isInteger(index) && index > 0 ? index : undefined;
}

/** Its journal, its recordings and its pins are in a folder of its own, the same after a restart. */
export function settingsOf(settings: Settings, index: number): Settings {
  const own = join(settings.data_dir, 'processes', String(index));
  return Object.freeze({ ...settings, process: index, own_dir: own });
}
