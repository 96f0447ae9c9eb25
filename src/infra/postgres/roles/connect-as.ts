// How to connect to the gateway's own database, as the owner of its tables or as the writer.
import type { ClientConfig, PoolConfig } from 'pg';
import type { EmbeddedPostgres } from '../../embedded-postgres/embedded-postgres.ts';
import { poolOptions, PostgresServer } from '../../sql/database-server.ts';
import { FOR_KEPT_PLANS } from '../prepared-statements.ts';
import { CONNECT_TIMEOUT_MS } from './own-pool.ts';

export type DatabaseSettings = {
  /** Brings the schema up to date when the database is opened; otherwise a schema that is behind is an error. */
  readonly migrate: boolean;
  readonly poolSize: number;
} & (
  | {
      readonly kind: 'postgres';
      readonly url: string;
      /** Of the owner of the tables; left out: `url` is. */
      readonly ownerUrl?: string | undefined;
      readonly ssl: 'disable' | 'require' | 'verify-full';
    }
  /** Whoever made the server stops it. */
  | { readonly kind: 'embedded'; readonly server: Pick<EmbeddedPostgres, 'pool' | 'writerPool'> }
);

export type DatabaseRole = 'owner' | 'writer';

/** The gateway's own statements are small: one that takes this long will not get better. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** Retention, records that wait, checkpoints: one thing at a time. */
const OWNER_POOL_SIZE = 2;

/** Whether those who write are not the owner of the tables. */
export function hasTwoRoles(settings: DatabaseSettings): boolean {
  return settings.kind === 'embedded' || settings.ownerUrl !== undefined;
}

export async function poolOf(settings: DatabaseSettings, role: DatabaseRole): Promise<PoolConfig> {
  const poolSize = role === 'owner' && hasTwoRoles(settings) ? OWNER_POOL_SIZE : settings.poolSize;
  const pool = await serverOf(settings, role, poolSize);
  return {
    ...pool,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
    options: `${pool.options} ${FOR_KEPT_PLANS}`,
  };
}

async function serverOf(settings: DatabaseSettings, role: DatabaseRole, poolSize: number) {
  const bounds = { poolSize, connectTimeoutMs: CONNECT_TIMEOUT_MS };
  if (settings.kind === 'postgres') {
    const { url, ownerUrl = url, ssl } = settings;
    return new PostgresServer({ kind: 'postgres', url: role === 'owner' ? ownerUrl : url, ssl, ...bounds })
      .config;
  }
  const { server } = settings;
  return { ...poolOptions(bounds), ...(await (role === 'owner' ? server.pool() : server.writerPool())) };
}

/** As the owner, for work that takes as long as it takes. */
export async function clientConfigOf(settings: DatabaseSettings): Promise<ClientConfig> {
  const none = { statement_timeout: 0, query_timeout: 0, idle_in_transaction_session_timeout: 0 };
  return { ...(await poolOf(settings, 'owner')), ...none };
}

/** One connection of the writer, on which every answer comes within that time or not at all. */
export async function watchConfigOf(settings: DatabaseSettings, withinMs: number): Promise<PoolConfig> {
  const times = { statement_timeout: withinMs, query_timeout: withinMs, connectionTimeoutMillis: withinMs };
  return { ...(await poolOf(settings, 'writer')), ...times, max: 1, idleTimeoutMillis: 0 };
}
