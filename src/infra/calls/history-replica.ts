// HistoryReplica: a read replica that lists of calls and audit records are read from, and whether it answers.
import type { Kysely } from 'kysely';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import { DatabaseWatch } from '../postgres/database-watch.ts';
import { keepsConnections, poolOf, type PostgresDatabase } from '../postgres/roles/connect-as.ts';
import { OwnPool } from '../postgres/roles/own-pool.ts';
import type { Tables } from '../postgres/tables.ts';

export interface HistoryReplicaDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly degraded: Gauge;
}

export class HistoryReplica {
  readonly db: Kysely<Tables>;
  readonly #pool: OwnPool;
  readonly #watch: DatabaseWatch;

  private constructor(pool: OwnPool, watch: DatabaseWatch) {
    this.db = pool.db;
    this.#pool = pool;
    this.#watch = watch;
  }

  /** Nothing is asked yet: a replica that is away keeps no gateway from starting. */
  static async open(settings: PostgresDatabase, deps: HistoryReplicaDeps): Promise<HistoryReplica> {
    const pool = new OwnPool(await poolOf(settings, 'writer'), deps.log, keepsConnections(settings));
    pool.opened();
    const words = {
      away: 'the read replica of the database is away: lists of calls and audit records are refused until it is back',
      back: 'the read replica of the database answers again',
    };
    const watch = new DatabaseWatch({ ...deps, settings, words });
    watch.start();
    return new HistoryReplica(pool, watch);
  }

  get isAway(): boolean {
    return this.#watch.isAway;
  }

  async close(): Promise<void> {
    await this.#watch.stop();
    await this.#pool.close();
  }
}
