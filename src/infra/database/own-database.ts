// Where the gateway's own database is, by its settings, and the store of tool definitions in it.
import { join } from 'node:path';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { SpecStore } from '../../ports/spec-store.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { DatabaseSettings } from './database.ts';
import { openedLater } from './opened-later.ts';
import type { Records } from './records.ts';

/** Rejects with ToolFailure UNAVAILABLE where the database cannot be opened. */
export async function openSpecStore(records: Records): Promise<SpecStore> {
  const { db } = await records.database();
  const { SqlSpecStore } = await import('./sql-spec-store.ts');
  return new SqlSpecStore(db);
}

/** An embedded database is not opened only to record what loaders bring. */
export function specStoreOf(records: Records, settings: Settings): SpecStore {
  const store = openedLater<SpecStore>(() => openSpecStore(records));
  const isEmbedded = settings.database.url === undefined;
  return {
    generation: () => store.generation(),
    heads: () => store.heads(),
    head: (name) => store.head(name),
    commit: (change) => store.commit(change),
    async record(versions) {
      if (isEmbedded && records.state !== 'open')
        throw new ToolFailure('UNAVAILABLE', 'The database is not open.', { reason: 'DATABASE_UNAVAILABLE' });
      await store.record(versions);
    },
    version: (name, contentHash) => store.version(name, contentHash),
    versionCalled: (name, version) => store.versionCalled(name, version),
    versions: (name, limit) => store.versions(name, limit),
    changes: (name, limit) => store.changes(name, limit),
  };
}

export function databaseSettings({ database, data_dir }: Settings): DatabaseSettings {
  const { url, pool_size: poolSize, ssl, migrate } = database;
  if (url === undefined) return { kind: 'pglite', dataDir: join(data_dir, 'database'), migrate: true };
  return { kind: 'postgres', url, poolSize, ssl, migrate };
}
