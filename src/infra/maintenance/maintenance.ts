// Maintenance: what each replica does in the database now and then: ends the calls of dead processes, deletes what is old.
import { every, type Repeated, type Round } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Gauge, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import type { GatewayDatabase } from '../postgres/gateway-database.ts';
import { dropOldDays, makeDaysAhead } from '../audit/trail/trail-days.ts';
import { forgetGateways, GATEWAY_LEASE_MS, tellAlive } from './gateway-beats.ts';
import { reconcileCalls } from '../calls/reconcile-calls.ts';
import { applyRetention, RETAINED_TABLES, type RetentionPeriods } from './retention.ts';
import { RECORDS_SERIES } from '../../ports/telemetry/series/records.ts';

export interface MaintenanceDeps {
  readonly database: Pick<GatewayDatabase, 'db' | 'owner'>;
  /** Whose signs of life these are. */
  readonly gateway: string;
  /** How far its journal is, see StoredAuditSink. */
  readonly behindMs: () => number | undefined;
  /** Chains what statements have recorded together with what they did, in this gateway or another. */
  readonly takeInRecords: () => Promise<void>;
  /** Signs how far the chains are, where it is time to. */
  readonly makeCheckpoints: () => Promise<void>;
  readonly retention: RetentionPeriods;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random: () => number;
}

const BEAT_EVERY_MS = 5_000;
const TAKE_IN_EVERY_MS = 5_000;
const CHECKPOINTS_EVERY_MS = 5_000;
const RECONCILE_EVERY_MS = 15_000;
const RETENTION_EVERY_MS = 60_000;
/** So long it goes on while there is more, before it says that it cannot keep up; and goes on after a moment. */
const RETENTION_ROUND_MS = 60_000;
const GO_ON_MS = 1_000;

export class Maintenance {
  readonly #deps: MaintenanceDeps;
  readonly #reconciled: Labelled<Counter>;
  readonly #deleted: Labelled<Counter>;
  readonly #overdue: Labelled<Gauge>;
  readonly #daysDropped: Counter;
  readonly #tasks: Repeated[] = [];
  readonly #stopped = new AbortController();

  constructor(deps: MaintenanceDeps) {
    this.#deps = deps;
    const { metrics } = deps;
    this.#reconciled = metrics.counter(RECORDS_SERIES.ute_calls_reconciled_total);
    this.#deleted = metrics.counter(RECORDS_SERIES.ute_retention_deleted_total);
    this.#daysDropped = metrics.counter(RECORDS_SERIES.ute_audit_partitions_dropped_total).with();
    this.#overdue = metrics.gauge(RECORDS_SERIES.ute_retention_overdue_seconds);
    for (const table of RETAINED_TABLES) this.#overdue.with(table).set(0);
    for (const status of ['outcome_unknown', 'failed']) this.#reconciled.with(status);
  }

  start(): void {
    this.#again(BEAT_EVERY_MS, () => this.#beat());
    this.#again(TAKE_IN_EVERY_MS, () => this.#deps.takeInRecords());
    this.#again(CHECKPOINTS_EVERY_MS, () => this.#deps.makeCheckpoints());
    this.#again(RECONCILE_EVERY_MS, () => this.#reconcile());
    this.#again(RETENTION_EVERY_MS, () => this.#applyRetention());
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#tasks.map((task) => task.stop()));
  }

  #again(ms: number, task: Round): void {
    const { clock, random, log } = this.#deps;
    const failed = (error: unknown) => {
      if (!this.#stopped.signal.aborted)
        log.warn({ err: error }, 'maintenance of the database failed: it is tried again in the next round');
    };
    this.#tasks.push(every(clock, { ms, jitter: 0.5, random }, task, failed));
  }

  #beat(): Promise<void> {
    const { database, gateway, behindMs } = this.#deps;
    return tellAlive(database, gateway, behindMs());
  }

  async #reconcile(): Promise<void> {
    const { database, gateway, log } = this.#deps;
    for (const { id, status } of await reconcileCalls(database, { gateway, leaseMs: GATEWAY_LEASE_MS })) {
      this.#reconciled.with(status).add();
      log.warn(
        { callId: id, status },
        'a call has no known outcome: its gateway is gone, or has lost the record of it',
      );
    }
  }

  async #applyRetention(): Promise<number | void> {
    const { database, retention, clock, log } = this.#deps;
    const bounds = { clock, withinMs: RETENTION_ROUND_MS, signal: this.#stopped.signal };
    const { deleted, overdue } = await applyRetention(database, retention, bounds);
    await forgetGateways(database);
    await this.#keepTrailDays();
    for (const [table, count] of Object.entries(deleted)) this.#deleted.with(table).add(count);
    for (const table of RETAINED_TABLES) this.#overdue.with(table).set(overdue[table] ?? 0);
    if (Object.keys(deleted).length > 0) log.info({ deleted }, 'old records deleted');
    if (Object.keys(overdue).length === 0) return;
    log.warn(
      { overdueSeconds: overdue },
      'old records come faster than they can be deleted: the database needs to be faster, or it grows',
    );
    return GO_ON_MS;
  }

  async #keepTrailDays(): Promise<void> {
    const { database, retention, log } = this.#deps;
    await makeDaysAhead(database);
    const days = await dropOldDays(database, retention.audit);
    this.#daysDropped.add(days.length);
    if (days.length > 0) log.info({ days }, 'old days of the audit trail dropped');
  }
}
