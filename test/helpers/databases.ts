// The two ways to a database that every store must work on: the embedded server, and a URL.
import { GatewayDatabase } from '../../src/infra/postgres/gateway-database.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { seededServer } from './embedded-postgres.ts';
import { quietLog } from './quiet-log.ts';
import { startPostgres } from './postgres.ts';

export interface TestDatabase {
  readonly database: GatewayDatabase;
  end(): Promise<void>;
}

export interface SharedTestDatabase extends TestDatabase {
  /** Another replica on the same database. */
  another(clock?: Clock): GatewayDatabase;
}

export async function embeddedDatabase(
  clock: Clock = new SystemClock(),
  embedded = seededServer(),
): Promise<TestDatabase> {
  const settings = { kind: 'embedded', server: embedded.server, poolSize: 5, migrate: true } as const;
  const database = new GatewayDatabase(settings, { clock, log: quietLog });
  return {
    database,
    async end() {
      await database.close();
      await embedded.end();
    },
  };
}

export async function postgresDatabase(clock: Clock = new SystemClock()): Promise<SharedTestDatabase> {
  const server = await startPostgres();
  const opened: GatewayDatabase[] = [];
  const another = (its: Clock = clock) => {
    const settings = {
      kind: 'postgres',
      url: server.url(),
      poolSize: 5,
      ssl: 'disable',
      migrate: true,
    } as const;
    const database = new GatewayDatabase(settings, { clock: its, log: quietLog });
    opened.push(database);
    return database;
  };
  return {
    database: another(),
    another,
    async end() {
      await Promise.all(opened.map((database) => database.close()));
      await server.stop();
    },
  };
}

/** For `describe.each`: each port suite runs on both. */
export const DATABASES = [
  ['embedded', embeddedDatabase],
  ['PostgreSQL', postgresDatabase],
] as const;
