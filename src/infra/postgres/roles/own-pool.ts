// A pool of connections to the gateway's own database that tells of lost connections and closes those that answer nobody.
import { Kysely, PostgresDialect } from 'kysely';
import { Pool, types, type CustomTypesConfig, type PoolConfig } from 'pg';
import type { Log } from '../../../ports/telemetry/log.ts';
import { tellNotConnected } from '../not-connected.ts';
import { closeSilentConnections } from '../silent-connections.ts';
import { takeCopyStatements } from '../statements/copy-statements.ts';
import { prepareNamedStatements } from '../statements/prepared-statements.ts';
import type { Tables } from '../tables.ts';

export const CONNECT_TIMEOUT_MS = 2_000;
/** While it is opened, no call of a caller hangs on a single connection. */
const FIRST_CONNECT_TIMEOUT_MS = 10_000;
const CLOSE_WITHIN_MS = 1_000;

export class OwnPool {
  readonly db: Kysely<Tables>;
  readonly pool: Pool;
  readonly #cutOff: () => void;
  #closing = false;

  /** `keepsConnections`: statements may be prepared on them. */
  constructor(config: PoolConfig, log: Log, keepsConnections = true) {
    this.pool = new Pool({
      ...config,
      types: typeParsers,
      connectionTimeoutMillis: FIRST_CONNECT_TIMEOUT_MS,
    });
    // Its message alone: pg hangs the whole connection on the error.
    const lost = ({ message }: Error) => {
      // The embedded server stops right behind the pool and ends what is still being closed: nothing is lost.
      if (this.#closing) return;
      log.warn(
        { reason: message },
        'a connection to the database was lost: another one is opened when it is needed',
      );
    };
    this.pool.on('error', lost);
    // The pool listens to idle ones alone: the loss of any other would end the process.
    this.pool.on('connect', (client) => client.on('error', lost));
    // First: what it runs is pg's own, and what the others see is a statement like any other.
    takeCopyStatements(this.pool);
    this.#cutOff = closeSilentConnections(this.pool);
    tellNotConnected(this.pool);
    if (keepsConnections) prepareNamedStatements(this.pool);
    this.db = new Kysely({ dialect: new PostgresDialect({ pool: this.pool }) });
  }

  /** From then on nobody waits long for a connection. */
  opened(): void {
    this.pool.options.connectionTimeoutMillis = CONNECT_TIMEOUT_MS;
  }

  /** Statements that run get a second to end: one that hangs must not keep the process. */
  async close(): Promise<void> {
    this.#closing = true;
    const cutOff = setTimeout(this.#cutOff, CLOSE_WITHIN_MS);
    await this.db.destroy().catch(() => {});
    clearTimeout(cutOff);
  }
}

/** Counts fit a number; the rest is read as pg reads it. */
const typeParsers: CustomTypesConfig = {
  getTypeParser: (...wanted: Parameters<typeof types.getTypeParser>) =>
    wanted[0] === types.builtins.INT8 ? Number : types.getTypeParser(...wanted),
};
