// How to connect to the gateway's own database, as the owner of its tables or as the writer.
import type { ClientConfig, PoolConfig } from 'pg';
import type { EmbeddedPostgres } from '../../embedded-postgres/embedded-postgres.ts';
import { poolOptions, PostgresServer } from '../../sql/database-server.ts';
import { FOR_KEPT_PLANS } from '../statements/prepared-statements.ts';
import { CONNECT_TIMEOUT_MS } from './own-pool.ts';

interface Opening {
  /** Brings the schema up to date when the database is opened; otherwise a schema that is behind is an error. */
  readonly migrate: boolean;
  readonly poolSize: number;
}

export interface PostgresDatabase extends Opening {
  readonly kind: 'postgres';
  readonly url: string;
  /** Of the owner of the tables; left out: `url` is. */
  readonly ownerUrl?: string | undefined;
  readonly ssl: 'disable' | 'require' | 'verify-full';
  /** PEM of the CAs that verify-full trusts. */
  readonly sslCa?: string | undefined;
  /** `transaction`: a connection is the same for one transaction. Left out: none. */
  readonly pooler?: 'none' | 'transaction';
}

export type DatabaseSettings =
  | PostgresDatabase
  /** Whoever made the server stops it. */
  | (Opening & { readonly kind: 'embedded'; readonly server: Pick<EmbeddedPostgres, 'pool' | 'writerPool'> });

export type DatabaseRole = 'owner' | 'writer';

/** The gateway's own statements are small: one that takes this long will not get better. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** Retention, records that wait, checkpoints: one thing at a time. */
const OWNER_POOL_SIZE = 2;

/** Whether those who write are not the owner of the tables. */
export function hasTwoRoles(settings: DatabaseSettings): boolean {
  return settings.kind === 'embedded' || settings.ownerUrl !== undefined;
}

/** Whether what is said to a connection is still so at its next transaction: prepared statements, settings. */
export function keepsConnections(settings: DatabaseSettings): boolean {
  return settings.kind === 'embedded' || settings.pooler !== 'transaction';
}

export async function poolOf(settings: DatabaseSettings, role: DatabaseRole): Promise<PoolConfig> {
  const poolSize = role === 'owner' && hasTwoRoles(settings) ? OWNER_POOL_SIZE : settings.poolSize;
  const pool = await serverOf(settings, role, poolSize);
  const timed = { ...pool, query_timeout: STATEMENT_TIMEOUT_MS + 2_000 };
  if (!keepsConnections(settings)) return withoutSession(timed);
  return {
    ...timed,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    options: `${pool.options} ${FOR_KEPT_PLANS}`,
  };
}

/** A pooler refuses a client that says at its start what would be of one connection. */
function withoutSession(config: PoolConfig): PoolConfig {
  return { ...config, options: undefined, statement_timeout: 0, idle_in_transaction_session_timeout: 0 };
}

async function serverOf(settings: DatabaseSettings, role: DatabaseRole, poolSize: number) {
  const bounds = { poolSize, connectTimeoutMs: CONNECT_TIMEOUT_MS };
  if (settings.kind === 'postgres') {
    const { url, ownerUrl = url, ssl, sslCa } = settings;
    const at = role === 'owner' ? ownerUrl : url;
    return new PostgresServer({ kind: 'postgres', url: at, ssl, sslCa, ...bounds }).config;
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
  const config = { ...(await poolOf(settings, 'writer')), ...times, max: 1, idleTimeoutMillis: 0 };
  return keepsConnections(settings) ? config : withoutSession(config);
}
