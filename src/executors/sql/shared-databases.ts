// One pool per connection, shared by all tools that name it, closed when the last of them is gone.
import type { Connection } from '../../contract/plugin.ts';
import { SharedLeases, type Lease } from '../../lib/concurrency/shared-leases.ts';
import type { SqlDatabase, SqlDatabases, SqlDatabaseSettings } from '../../ports/egress/sql-databases.ts';
import { embeddedConnectionSchema, postgresConnectionSchema } from './options-schema.ts';

const DEFAULT_POOL_SIZE = 10;
/** The server is made for a small machine. */
const DEFAULT_EMBEDDED_POOL_SIZE = 4;
const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;

export class SharedDatabases {
  readonly #databases: SqlDatabases;
  readonly #shared = new SharedLeases<SqlDatabase>((database) => database.close());

  constructor(databases: SqlDatabases) {
    this.#databases = databases;
  }

  lease({ name, settings }: Connection): Lease<SqlDatabase> {
    const open = () => this.#databases.open(databaseSettings(settings));
    return this.#shared.lease(JSON.stringify([name, settings]), open);
  }
}

/** The connection's `tenant`, for tools that say nothing themselves. */
export function tenancyOf({ type, settings }: Connection): 'bound' | 'none' {
  const schema = type === 'embedded' ? embeddedConnectionSchema : postgresConnectionSchema;
  return schema.parse(settings).tenant ?? 'bound';
}

function databaseSettings(settings: Connection['settings']): SqlDatabaseSettings {
  if (settings['type'] === 'embedded') {
    const {
      database,
      init_sql: initSql,
      role,
      pool_size: poolSize,
    } = embeddedConnectionSchema.parse(settings);
    return {
      kind: 'embedded',
      database,
      initSql,
      role,
      poolSize: poolSize ?? DEFAULT_EMBEDDED_POOL_SIZE,
      connectTimeoutMs: DEFAULT_CONNECT_TIMEOUT_MS,
    };
  }
  const found = postgresConnectionSchema.parse(settings);
  return {
    kind: 'postgres',
    url: found.url,
    poolSize: found.pool_size ?? DEFAULT_POOL_SIZE,
    connectTimeoutMs: found.connect_timeout_ms ?? DEFAULT_CONNECT_TIMEOUT_MS,
    ssl: found.ssl ?? (isLocal(found.url) ? 'disable' : 'verify-full'),
    sslCa: found.ssl_ca,
  };
}

/** A unix socket, or a literal of this machine. */
function isLocal(text: string): boolean {
  const url = URL.parse(text);
  const host = url?.searchParams.get('host') ?? url?.hostname ?? '';
  return (
    host.startsWith('/') || host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}
