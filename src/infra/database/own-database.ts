// Where the gateway's own database is, by its settings, and the store of tool definitions in it.
import { join } from 'node:path';
import type { SpecStore } from '../../ports/spec-store.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { DatabaseSettings } from './database.ts';
import type { Records } from './records.ts';

/** Rejects with ToolFailure UNAVAILABLE where the database cannot be opened. */
export async function openSpecStore(records: Records): Promise<SpecStore> {
  const { db } = await records.database();
  const { SqlSpecStore } = await import('./sql-spec-store.ts');
  return new SqlSpecStore(db);
}

export function databaseSettings({ database, data_dir }: Settings): DatabaseSettings {
  const { url, pool_size: poolSize, ssl, migrate } = database;
  if (url === undefined) return { kind: 'pglite', dataDir: join(data_dir, 'database'), migrate: true };
  return { kind: 'postgres', url, poolSize, ssl, migrate };
}
