// Database: the gateway's own records, on a PostgreSQL elsewhere or a PGlite under the data directory, by the same code.
import { Kysely, PostgresDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { Pool, types, type CustomTypesConfig, type PoolConfig } from 'pg';
import type { Log } from '../../ports/log.ts';
import { PostgresServer } from '../sql/database-server.ts';
import { PgliteServer } from '../sql/pglite-server.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { FOR_KEPT_PLANS, prepareNamedStatements } from './prepared-statements.ts';
import { closeSilentConnections } from './silent-connections.ts';
import type { Tables } from './tables.ts';

export type DatabaseSettings = {
  /** Brings the schema up to date when the database is opened; otherwise a schema that is behind is an error. */
  readonly migrate: boolean;
} & (
  | {
      readonly kind: 'postgres';
      readonly url: string;
      readonly poolSize: number;
      readonly ssl: 'disable' | 'require' | 'verify-full';
    }
  | { readonly kind: 'pglite'; readonly dataDir: string }
);

const CONNECT_TIMEOUT_MS = 2_000;
/** The gateway's own statements are small: one that takes this long will not get better. */
const STATEMENT_TIMEOUT_MS = 10_000;

export class Database {
  readonly db: Kysely<Tables>;
  /** True where no other process can change the records. */
  readonly embedded: boolean;
  readonly #server: Server;

  private constructor(server: Server, embedded: boolean, log: Log) {
    const opened = new Pool({ ...server.pool, types: typeParsers });
    const lost = (error: Error) => log.warn({ err: error }, 'a database connection was lost');
    opened.on('error', lost);
    // The pool listens to idle ones alone: the loss of any other would end the process.
    opened.on('connect', (client) => client.on('error', lost));
    closeSilentConnections(opened);
    // An embedded database has one session for all connections: a name would be known already.
    if (!embedded) prepareNamedStatements(opened);
    this.db = new Kysely({ dialect: new PostgresDialect({ pool: opened }) });
    this.embedded = embedded;
    this.#server = server;
  }

  /** Connects and brings the schema up to date. Throws Error with a sentence for the operator. */
  static async open(settings: DatabaseSettings, log: Log): Promise<Database> {
    const opened = Database.#connect(settings, log);
    try {
      if (settings.migrate) await opened.migrate(log);
      else await opened.#requireCurrent();
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** Brings the schema up to date and closes again. Returns what was done. */
  static async migrateOnly(settings: DatabaseSettings, log: Log): Promise<readonly string[]> {
    const opened = Database.#connect(settings, log);
    try {
      return await opened.migrate(log);
    } finally {
      await opened.close();
    }
  }

  static #connect(settings: DatabaseSettings, log: Log): Database {
    const server = settings.kind === 'postgres' ? remote(settings) : embedded(settings);
    return new Database(server, settings.kind === 'pglite', log);
  }

  /** Under a lock of the database's own: of many replicas that start at once, one does it. Returns what was done. */
  async migrate(log: Log): Promise<readonly string[]> {
    const { error, results = [] } = await this.#migrator().migrateToLatest();
    if (error !== undefined) throw new Error(`the database cannot be migrated: ${sentenceOf(error)}`);
    const done = results
      .filter(({ status }) => status === 'Success')
      .map(({ migrationName }) => migrationName);
    if (done.length > 0) log.info({ migrations: done }, 'database migrated');
    return done;
  }

  async close(): Promise<void> {
    await this.db.destroy().catch(() => {});
    await this.#server.close();
  }

  async #requireCurrent(): Promise<void> {
    const migrations = await this.#migrator()
      .getMigrations()
      .catch((error: unknown) => {
        throw new Error(`the database cannot be reached: ${sentenceOf(error)}`, { cause: error });
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

interface Server {
  readonly pool: PoolConfig;
  close(): Promise<void>;
}

function remote({ url, poolSize, ssl }: DatabaseSettings & { kind: 'postgres' }): Server {
  const server = new PostgresServer({
    kind: 'postgres',
    url,
    poolSize,
    ssl,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  const options = `${server.pool.options} ${FOR_KEPT_PLANS}`;
  const timeouts = {
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
  };
  return { pool: { ...server.pool, ...timeouts, options }, close: () => server.close() };
}

function embedded({ dataDir }: DatabaseSettings & { kind: 'pglite' }): Server {
  const unlock = lockDataDir(dataDir);
  const server = new PgliteServer({ dataDir });
  return { pool: server.pool, close: () => server.close().finally(unlock) };
}

/** Counts fit a number; the rest is read as pg reads it. */
const typeParsers: CustomTypesConfig = {
  getTypeParser: (...wanted: Parameters<typeof types.getTypeParser>) =>
    wanted[0] === types.builtins.INT8 ? Number : types.getTypeParser(...wanted),
};

/** Of several addresses tried, or of one: pg's own message may be empty. */
function sentenceOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(sentenceOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
