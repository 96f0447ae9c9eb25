// Both twins of SqlDatabase, PostgreSQL and PGlite, held to one suite.
import { PgSqlDatabases } from '../../../src/infra/sql/pg-sql-databases.ts';
import { startPostgres } from '../../helpers/postgres.ts';
import { describeSqlDatabase, SQL_SUITE_SCHEMA } from './sql-databases.suite.ts';

describeSqlDatabase('postgres', async () => {
  const postgres = await startPostgres(SQL_SUITE_SCHEMA);
  const databases = new PgSqlDatabases();
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

describeSqlDatabase('pglite', async () => {
  const databases = new PgSqlDatabases();
  const database = databases.open({ kind: 'pglite', initSql: SQL_SUITE_SCHEMA, role: 'reader' });
  return { database, close: () => databases.close() };
});
