// Runs the suite of SpecStore on both databases.
import { SqlSpecStore } from '../../../src/infra/specs/sql-spec-store.ts';
import { DATABASES } from '../../helpers/databases.ts';
import { describeSpecStore, MOST_VERSIONS } from './spec-store.suite.ts';

for (const [name, start] of DATABASES) {
  describeSpecStore(name, async () => {
    const database = await start();
    const { db } = await database.database.opened();
    return { store: new SqlSpecStore(db, MOST_VERSIONS), end: () => database.end() };
  });
}
