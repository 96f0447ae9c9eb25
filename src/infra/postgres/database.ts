// Database: the gateway's own records, on a PostgreSQL elsewhere or on the embedded one, by the same code.
import { Kysely, PostgresDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { Pool, types, type ClientConfig, type CustomTypesConfig, type PoolConfig } from 'pg';
import type { Log } from '../../ports/telemetry/log.ts';
import type { EmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';
import { poolOptions, PostgresServer } from '../sql/database-server.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { reasonOf, tellNotConnected } from './not-connected.ts';
import { FOR_KEPT_PLANS, prepareNamedStatements } from './prepared-statements.ts';
import { closeSilentConnections } from './silent-connections.ts';
import type { Tables } from './tables.ts';

export type DatabaseSettings = {
  /** Brings the schema up to date when the database is opened; otherwise a schema that is behind is an error. */
  readonly migrate: boolean;
  readonly poolSize: number;
} & (
  | {
      readonly kind: 'postgres';
      readonly url: string;
      readonly ssl: 'disable' | 'require' | 'verify-full';
    }
  /** Whoever made the server stops it. */
  | { readonly kind: 'embedded'; readonly server: Pick<EmbeddedPostgres, 'pool'> }
);

const CONNECT_TIMEOUT_MS = 2_000;
/** While it is opened, no call of a caller hangs on a single connection. */
const FIRST_CONNECT_TIMEOUT_MS = 10_000;
const CLOSE_WITHIN_MS = 1_000;
/** The gateway's own statements are small: one that takes this long will not get better. */
const STATEMENT_TIMEOUT_MS = 10_000;

export class Database {
  readonly db: Kysely<Tables>;
  readonly pool: Pool;
  readonly #cutOff: () => void;

  private constructor(pool: PoolConfig, log: Log) {
    this.pool = new Pool({
      ...pool,
      types: typeParsers,
      connectionTimeoutMillis: FIRST_CONNECT_TIMEOUT_MS,
    });
    // Its message alone: pg hangs the whole connection on the error.
    const lost = ({ message }: Error) =>
      log.warn(
        { reason: message },
        'a connection to the database was lost: another one is opened when it is needed',
      );
    this.pool.on('error', lost);
    // The pool listens to idle ones alone: the loss of any other would end the process.
    this.pool.on('connect', (client) => client.on('error', lost));
    this.#cutOff = closeSilentConnections(this.pool);
    tellNotConnected(this.pool);
    prepareNamedStatements(this.pool);
    this.db = new Kysely({ dialect: new PostgresDialect({ pool: this.pool }) });
  }

  /** Connects and brings the schema up to date. Throws Error with a sentence for the operator. */
  static async open(settings: DatabaseSettings, log: Log): Promise<Database> {
    const opened = new Database(await poolOf(settings), log);
    try {
      if (settings.migrate) await opened.migrate(log);
      else await opened.#requireCurrent();
      opened.pool.options.connectionTimeoutMillis = CONNECT_TIMEOUT_MS;
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** Brings the schema up to date and closes again. Returns what was done. */
  static async migrateOnly(settings: DatabaseSettings, log: Log): Promise<readonly string[]> {
    const opened = new Database(await poolOf(settings), log);
    try {
      return await opened.migrate(log);
    } finally {
      await opened.close();
    }
  }

  /** Gives an empty database the schema of that migration, or checks that it has it. Throws Error where it has another. */
  static async migrateTo(settings: DatabaseSettings, last: string, log: Log): Promise<void> {
    const opened = new Database(await poolOf(settings), log);
    try {
      const known = await opened.#migrator().getMigrations();
      const there = known.filter(({ executedAt }) => executedAt !== undefined).map(({ name }) => name);
      if (there.length > 0 && there.at(-1) !== last)
        throw new Error(
          `the database has the schema of ${there.at(-1)}, and not of ${last}: import into a new one`,
        );
      const { error } = await opened.#migrator().migrateTo(last);
      if (error !== undefined) throw new Error(`the database cannot be migrated: ${reasonOf(error)}`);
    } finally {
      await opened.close();
    }
  }

  /** Under a lock of the database's own: of many replicas that start at once, one does it. Returns what was done. */
  async migrate(log: Log): Promise<readonly string[]> {
    const { error, results = [] } = await this.#migrator().migrateToLatest();
    if (error !== undefined) throw new Error(`the database cannot be migrated: ${reasonOf(error)}`);
    const done = results
      .filter(({ status }) => status === 'Success')
      .map(({ migrationName }) => migrationName);
    if (done.length > 0) log.info({ migrations: done }, 'database migrated');
    return done;
  }

  /** Statements that run get a second to end: one that hangs must not keep the process. */
  async close(): Promise<void> {
    const cutOff = setTimeout(this.#cutOff, CLOSE_WITHIN_MS);
    await this.db.destroy().catch(() => {});
    clearTimeout(cutOff);
  }

  async #requireCurrent(): Promise<void> {
    const migrations = await this.#migrator()
      .getMigrations()
      .catch((error: unknown) => {
        throw new Error(`the database cannot be reached: ${reasonOf(error)}`, { cause: error });
      });
    const missing = migrations.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name);
    if (missing.length > 0)
      throw new Error(`the database's schema is behind: run "ute migrate" (missing: ${missing.join(', ')})`);
  }

  #migrator(): Migrator {
    return new Migrator({
      db: this.db,
      provider: { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) },
      migrationTableName: 'ute_migrations',
      migrationLockTableName: 'ute_migrations_lock',
    });
  }
}

/** For work that takes as long as it takes. */
export async function clientConfigOf(settings: DatabaseSettings): Promise<ClientConfig> {
  const none = { statement_timeout: 0, query_timeout: 0, idle_in_transaction_session_timeout: 0 };
  return { ...(await poolOf(settings)), ...none };
}

/** One connection, on which every answer comes within that time or not at all. */
export async function watchConfigOf(settings: DatabaseSettings, withinMs: number): Promise<PoolConfig> {
  const times = { statement_timeout: withinMs, query_timeout: withinMs, connectionTimeoutMillis: withinMs };
  return { ...(await poolOf(settings)), ...times, max: 1, idleTimeoutMillis: 0 };
}

async function poolOf(settings: DatabaseSettings): Promise<PoolConfig> {
  const { poolSize } = settings;
  const bounds = { poolSize, connectTimeoutMs: CONNECT_TIMEOUT_MS };
  const pool =
    settings.kind === 'postgres'
      ? new PostgresServer({ kind: 'postgres', url: settings.url, ssl: settings.ssl, ...bounds }).config
      : { ...poolOptions(bounds), ...(await settings.server.pool()) };
  return {
    ...pool,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
    options: `${pool.options} ${FOR_KEPT_PLANS}`,
  };
}

/** Counts fit a number; the rest is read as pg reads it. */
const typeParsers: CustomTypesConfig = {
  getTypeParser: (...wanted: Parameters<typeof types.getTypeParser>) =>
    wanted[0] === types.builtins.INT8 ? Number : types.getTypeParser(...wanted),
};
