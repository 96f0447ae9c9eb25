// Database: the gateway's own records, on a PostgreSQL elsewhere or on the embedded one, by the same code.
import { sql, type Kysely } from 'kysely';
import { Migrator, type MigrationResult, type MigrationResultSet } from 'kysely/migration';
import type { Pool } from 'pg';
import type { Log } from '../../ports/telemetry/log.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { reasonOf } from './not-connected.ts';
import {
  hasTwoRoles,
  keepsConnections,
  poolOf,
  type DatabaseRole,
  type DatabaseSettings,
} from './roles/connect-as.ts';
import type { FullDisk } from './roles/full-disk.ts';
import { OwnPool } from './roles/own-pool.ts';
import { grantWriter, requireOwner, requireRights } from './roles/writer-role.ts';
import type { Tables } from './tables.ts';

/** Any number, the same on every replica: who holds this lock of the database migrates it. */
const LOCK = 7_274_305;

export class Database {
  /** The writer's: adds audit records and changes none, where there are two roles. */
  readonly db: Kysely<Tables>;
  readonly pool: Pool;
  /** The owner's of the tables: what ends records, chains those that wait, and signs. The same where there is one role. */
  readonly owner: Kysely<Tables>;
  readonly ownerPool: Pool;
  readonly #writing: OwnPool;
  readonly #owning: OwnPool | undefined;

  private constructor(writing: OwnPool, owning: OwnPool | undefined) {
    this.#writing = writing;
    this.#owning = owning;
    this.db = writing.db;
    this.pool = writing.pool;
    const { db, pool } = owning ?? writing;
    this.owner = db;
    this.ownerPool = pool;
  }

  /** Connects and brings the schema up to date. Throws Error with a sentence for the operator. */
  static async open(settings: DatabaseSettings, log: Log, fullDisk?: FullDisk): Promise<Database> {
    const opened = await Database.#connect(settings, log);
    for (const pool of new Set([opened.pool, opened.ownerPool])) fullDisk?.listen(pool);
    try {
      if (settings.migrate) await opened.migrate(log);
      else await opened.#requireCurrent();
      opened.#writing.opened();
      opened.#owning?.opened();
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** Brings the schema up to date and closes again. Returns what was done. */
  static async migrateOnly(settings: DatabaseSettings, log: Log): Promise<readonly string[]> {
    const opened = await Database.#connect(settings, log);
    try {
      return await opened.migrate(log);
    } finally {
      await opened.close();
    }
  }

  /** Gives an empty database the schema of that migration, or checks that it has it. Throws Error where it has another. */
  static async migrateTo(settings: DatabaseSettings, last: string, log: Log): Promise<void> {
    const opened = await Database.#connect(settings, log);
    try {
      const there = await executedIn(opened.owner);
      if (there.length > 0 && there.at(-1) !== last)
        throw new Error(
          `the database has the schema of ${there.at(-1)}, and not of ${last}: import into a new one`,
        );
      await opened.#migrating((migrator) => migrator.migrateTo(last)).catch(failed);
    } finally {
      await opened.close();
    }
  }

  static async #connect(settings: DatabaseSettings, log: Log): Promise<Database> {
    const pool = async (role: DatabaseRole) =>
      new OwnPool(await poolOf(settings, role), log, keepsConnections(settings));
    return new Database(await pool('writer'), hasTwoRoles(settings) ? await pool('owner') : undefined);
  }

  /**
   * Under a lock of the database's own: of many replicas that start at once, one does it. Gives the writer its rights.
   * Returns what was done.
   */
  async migrate(log: Log): Promise<readonly string[]> {
    const writer = await this.#writer().catch(failed);
    if (writer !== undefined) await requireOwner(this.owner, writer);
    // Asked under the lock: a replica of a newer version that starts at the same time may have held it before.
    const results = await this.#migrating(async (migrator, trx) => {
      const { missing, isAhead } = differences(await executedIn(trx));
      if (isAhead) return undefined;
      return missing.length > 0 ? migrator.migrateToLatest() : { results: [] };
    }).catch(failed);
    if (results === undefined) {
      log.warn(
        {},
        'the database has the schema of a newer version: this one goes on beside it, and changes nothing',
      );
      return [];
    }
    const done = results
      .filter(({ status }) => status === 'Success')
      .map(({ migrationName }) => migrationName);
    if (done.length > 0) log.info({ migrations: done }, 'database migrated');
    if (writer !== undefined) await grantWriter(this.owner, writer);
    return done;
  }

  async close(): Promise<void> {
    await Promise.all([this.#writing.close(), this.#owning?.close()]);
  }

  async #requireCurrent(): Promise<void> {
    const executed = await executedIn(this.owner).catch((error: unknown) => {
      throw new Error(`the database cannot be reached: ${reasonOf(error)}`, { cause: error });
    });
    const missing = namesMissing(executed);
    if (missing.length > 0)
      throw new Error(`the database's schema is behind: run "ute migrate" (missing: ${missing.join(', ')})`);
    const writer = await this.#writer();
    if (writer !== undefined) await requireOwner(this.owner, writer);
    if (writer !== undefined) await requireRights(this.owner, writer);
  }

  /** Who writes, where that is not the owner. */
  async #writer(): Promise<string | undefined> {
    if (this.#owning === undefined) return undefined;
    const { rows } = await sql<{ name: string }>`SELECT current_user AS name`.execute(this.db);
    return rows[0]?.name;
  }

  /**
   * All in one transaction, and under a lock of that. The migrator's own lock is one of the connection, which a pooler gives
   * to somebody else.
   */
  #migrating(
    migrate: (migrator: Migrator, trx: Kysely<Tables>) => Promise<MigrationResultSet | undefined>,
  ): Promise<readonly MigrationResult[] | undefined> {
    return this.owner.transaction().execute(async (trx) => {
      await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(trx);
      const done = await migrate(this.#migrator(trx), trx);
      if (done?.error !== undefined) throw done.error;
      return done && (done.results ?? []);
    });
  }

  #migrator(db: Kysely<Tables> = this.owner): Migrator {
    return new Migrator({
      db,
      provider: { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) },
      migrationTableName: 'ute_migrations',
      migrationLockTableName: 'ute_migrations_lock',
    });
  }
}

/**
 * Names in their order. Asked here, and not of the migrator: that reads the columns of every table first, which is a tenth of
 * a start that has nothing to migrate.
 */
async function executedIn(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows: tables } = await sql<{
    found: boolean;
  }>`SELECT to_regclass('ute_migrations') IS NOT NULL AS found`.execute(db);
  if (tables[0]?.found !== true) return [];
  const { rows } = await sql<{ name: string }>`SELECT name FROM ute_migrations ORDER BY name`.execute(db);
  return rows.map(({ name }) => name);
}

function namesMissing(executed: readonly string[]): readonly string[] {
  return Object.keys(MIGRATIONS).filter((name) => !executed.includes(name));
}

/**
 * During an upgrade a replica of the version before may start after one of the new version has migrated: a schema only grows
 * until that upgrade is over. Throws Error where the two do not follow one another.
 */
function differences(executed: readonly string[]): {
  readonly missing: readonly string[];
  readonly isAhead: boolean;
} {
  const missing = namesMissing(executed);
  const unknown = executed.filter((name) => !Object.hasOwn(MIGRATIONS, name));
  if (unknown.length > 0 && missing.length > 0)
    throw new Error(`another version made it: it has ${unknown.join(', ')} and lacks ${missing.join(', ')}`);
  return { missing, isAhead: unknown.length > 0 };
}

function failed(error: unknown): never {
  throw new Error(`the database cannot be migrated: ${reasonOf(error)}`, { cause: error });
}
