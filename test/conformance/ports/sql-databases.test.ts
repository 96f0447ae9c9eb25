// SqlDatabase on a PostgreSQL elsewhere and on the embedded one, held to one suite.
import { PgSqlDatabases } from '../../../src/infra/sql/pg-sql-databases.ts';
import { seededServer } from '../../helpers/embedded-postgres.ts';
import { startPostgres } from '../../helpers/postgres.ts';
import { describeSqlDatabase, SQL_SUITE_SCHEMA } from './sql-databases.suite.ts';

describeSqlDatabase('postgres', async () => {
  const postgres = await startPostgres(`CREATE ROLE reader LOGIN; ${SQL_SUITE_SCHEMA}`);
  const unused = { pool: () => Promise.reject(new Error('there is no embedded server here')) };
  const databases = new PgSqlDatabases(unused);
  const database = databases.open({
    kind: 'postgres',
    url: postgres.url('reader'),
    poolSize: 4,
    connectTimeoutMs: 5_000,
    ssl: 'disable',
  });
  async function close() {
    await databases.close();
    await postgres.stop();
  }
  return { database, close };
});

describeSqlDatabase('embedded', async () => {
  const embedded = seededServer();
  const databases = new PgSqlDatabases(embedded.server);
  const database = databases.open({
    kind: 'embedded',
    initSql: SQL_SUITE_SCHEMA,
    role: 'reader',
    poolSize: 4,
    connectTimeoutMs: 5_000,
  });
  async function close() {
    await databases.close();
    await embedded.end();
  }
  return { database, close };
});
