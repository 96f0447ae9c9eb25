// SqlDatabases on pg: a PostgreSQL elsewhere, and databases of tools on the embedded one.
import type { SqlDatabase, SqlDatabases, SqlDatabaseSettings } from '../../ports/egress/sql-databases.ts';
import { PostgresServer } from './database-server.ts';
import type { EmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';
import { EmbeddedServer } from './embedded-server.ts';
import { PooledDatabase } from './pooled-database.ts';
import { ToolDatabases } from './tool-databases.ts';

export class PgSqlDatabases implements SqlDatabases {
  readonly #open = new Set<PooledDatabase>();
  readonly #embedded: ToolDatabases;

  constructor(server: Pick<EmbeddedPostgres, 'pool'>) {
    this.#embedded = new ToolDatabases(server);
  }

  open(settings: SqlDatabaseSettings): SqlDatabase {
    const onClosed = (database: PooledDatabase) => this.#open.delete(database);
    const server =
      settings.kind === 'postgres'
        ? new PostgresServer(settings)
        : new EmbeddedServer(this.#embedded, settings);
    const database = new PooledDatabase(server, onClosed);
    this.#open.add(database);
    return database;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((database) => database.close()));
  }
}
