// Where the gateway's own database is, by its settings: a PostgreSQL elsewhere, or the embedded one under data_dir.
import { readSandboxSettings, SANDBOX_DEFAULTS } from '../../lib/sandbox-settings.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { EmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';
import type { DatabaseSettings } from './roles/connect-as.ts';

export function databaseSettings({ database }: Settings, server: EmbeddedPostgres): DatabaseSettings {
  const { url, owner_url: ownerUrl, pool_size: poolSize, ssl, migrate } = database;
  if (url === undefined) return { kind: 'embedded', server, poolSize, migrate: true };
  return { kind: 'postgres', url, ownerUrl, poolSize, ssl, migrate };
}

/** Nothing of it runs before it is asked for: a gateway with a database.url may never need it. */
export function embeddedPostgres({ data_dir, executors }: Settings, log: Log): EmbeddedPostgres {
  const { uid } = readSandboxSettings(executors['shell']) ?? SANDBOX_DEFAULTS;
  return new EmbeddedPostgres({ dataDir: data_dir, sandboxUid: uid, log });
}
