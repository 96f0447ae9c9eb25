// The two ways to a database that every store must work on: the embedded server, and a URL.
import { Records } from '../../src/infra/postgres/records.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { embeddedServer } from './embedded-postgres.ts';
import { quietLog } from './quiet-log.ts';
import { startPostgres } from './postgres.ts';

export interface TestDatabase {
  readonly records: Records;
  end(): Promise<void>;
}

export interface SharedTestDatabase extends TestDatabase {
  /** Another replica on the same database. */
  another(clock?: Clock): Records;
}

export async function embeddedDatabase(clock: Clock = new SystemClock()): Promise<TestDatabase> {
  const embedded = embeddedServer();
  const settings = { kind: 'embedded', server: embedded.server, poolSize: 5, migrate: true } as const;
  const records = new Records(settings, { clock, log: quietLog });
  return {
    records,
    async end() {
      await records.close();
      await embedded.end();
    },
  };
}

export async function postgresDatabase(clock: Clock = new SystemClock()): Promise<SharedTestDatabase> {
  const server = await startPostgres();
  const opened: Records[] = [];
  const another = (its: Clock = clock) => {
    const settings = {
      kind: 'postgres',
      url: server.url(),
      poolSize: 5,
      ssl: 'disable',
      migrate: true,
    } as const;
    const records = new Records(settings, { clock: its, log: quietLog });
    opened.push(records);
    return records;
  };
  return {
    records: another(),
    another,
    async end() {
      await Promise.all(opened.map((records) => records.close()));
      await server.stop();
    },
  };
}

/** For `describe.each`: each port suite runs on both. */
export const DATABASES = [
  ['embedded', embeddedDatabase],
  ['PostgreSQL', postgresDatabase],
] as const;
