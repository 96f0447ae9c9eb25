// How many processes serve: as many as the settings say, or one for each core where they may share what they have to share.
import { availableParallelism } from 'node:os';
import type { Settings } from '../../../settings/settings-schema.ts';

export interface ProcessCount {
  readonly count: number;
  /** Why it is one where the settings say auto; undefined otherwise. */
  readonly why?: string;
}

export function processCountOf(
  { processes, redis, database }: Pick<Settings, 'processes' | 'redis' | 'database'>,
  cores: number = availableParallelism(),
): ProcessCount {
  if (processes !== 'auto') return { count: processes };
  if (cores === 1) return { count: 1, why: 'this machine gives it one core' };
  const missing = [
    ...(redis.url === undefined ? ['redis.url (UTE_REDIS_URL), which shares limits'] : []),
    ...(database.url === undefined
      ? ['database.url (UTE_DATABASE_URL): only one process may hold the embedded database']
      : []),
  ];
  if (missing.length === 0) return { count: cores };
  return { count: 1, why: `more need ${missing.join(', and ')}` };
}
