// WriterSettings: how those who write connect to the gateway's own database, as plain data that another thread can be given.
import type { PoolConfig } from 'pg';
import type { DatabaseSettings, PostgresDatabase } from './connect-as.ts';

export type WriterSettings =
  | PostgresDatabase
  /** Of a server that runs. */
  | { readonly kind: 'embedded'; readonly login: PoolConfig };

/** Rejects where the embedded database does not run and cannot be started. */
export async function writerSettings(settings: DatabaseSettings): Promise<WriterSettings> {
  if (settings.kind === 'postgres') return settings;
  return { kind: 'embedded', login: await settings.server.writerPool() };
}

/** In the thread that was given them: nothing of it migrates, and it has one connection. */
export function settingsOfWriter(writer: WriterSettings): DatabaseSettings {
  const bounds = { migrate: false, poolSize: 1 };
  if (writer.kind === 'postgres') return { ...writer, ...bounds };
  const login = () => Promise.resolve(writer.login);
  return { kind: 'embedded', server: { pool: login, writerPool: login }, ...bounds };
}
