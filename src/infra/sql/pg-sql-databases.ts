// SqlDatabases on pg: PostgreSQL over the network, and PGlite in a thread of this process.
import type { SqlDatabase, SqlDatabases, SqlDatabaseSettings } from '../../ports/sql-databases.ts';
import { PostgresServer } from './database-server.ts';
import { PgliteServer } from './pglite-server.ts';
import { PooledDatabase } from './pooled-database.ts';

export class PgSqlDatabases implements SqlDatabases {
  readonly #open = new Set<PooledDatabase>();

  open(settings: SqlDatabaseSettings): SqlDatabase {
    const onClosed = (database: PooledDatabase) => this.#open.delete(database);
    const database =
      settings.kind === 'postgres'
        ? new PooledDatabase(new PostgresServer(settings), { onClosed })
        : new PooledDatabase(new PgliteServer(settings), { role: settings.role, onClosed });
    this.#open.add(database);
    return database;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((database) => database.close()));
  }
}
