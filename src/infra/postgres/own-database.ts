// Where the gateway's own database is, by its settings: a PostgreSQL elsewhere, or the embedded one under data_dir.
import { readFileSync } from 'node:fs';
import { readSandboxSettings, SANDBOX_DEFAULTS } from '../../lib/sandbox-settings.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { EmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';
import type { DatabaseSettings, PostgresDatabase } from './roles/connect-as.ts';

export function databaseSettings({ database }: Settings, server: EmbeddedPostgres): DatabaseSettings {
  const { url } = database;
  if (url === undefined) return { kind: 'embedded', server, poolSize: database.pool_size, migrate: true };
  return postgresSettings(database, url);
}

/** Of a PostgreSQL elsewhere. Throws where the file of its CAs cannot be read. */
export function postgresSettings(database: Settings['database'], url: string): PostgresDatabase {
  const { owner_url: ownerUrl, pool_size: poolSize, ssl, ssl_ca_file: ca, pooler, migrate } = database;
  const sslCa = ca === undefined ? undefined : readFileSync(ca, 'utf8');
  return { kind: 'postgres', url, ownerUrl, poolSize, ssl, sslCa, pooler, migrate };
}

/** Nothing of it runs before it is asked for: a gateway with a database.url may never need it. */
export function embeddedPostgres({ data_dir, executors }: Settings, log: Log): EmbeddedPostgres {
  const { uid } = readSandboxSettings(executors['shell']) ?? SANDBOX_DEFAULTS;
  return new EmbeddedPostgres({ dataDir: data_dir, sandboxUid: uid, log });
}
