// Runs the suite of IdempotencyStore on both databases.
import { SqlIdempotencyStore } from '../../../src/infra/idempotency/sql-idempotency-store.ts';
import { DATABASES } from '../../helpers/databases.ts';
import { describeIdempotencyStore } from './idempotency-store.suite.ts';

for (const [name, start] of DATABASES) {
  describeIdempotencyStore(name, async () => {
    const database = await start();
    const { db } = await database.database.opened();
    return { store: new SqlIdempotencyStore(db), end: () => database.end() };
  });
}
