// CheckpointDelivery: takes checkpoints from the database to other places, each at its own pace, again and again until they are there.
import { RECORDS_SERIES } from '../../../ports/telemetry/series/records.ts';
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { checkpointLine, type Checkpoint } from '../../../lib/audit-chain/checkpoint.ts';
import { every, type Repeated } from '../../../lib/timers/every.ts';
import { within } from '../../../lib/timers/within.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Metrics } from '../../../ports/telemetry/metrics.ts';
import type { Database } from '../../postgres/database.ts';
import { degradedGauge } from '../../telemetry/degraded-gauge.ts';
import type { CheckpointBatch, RemoteSink } from './remote-sink.ts';

export interface DeliveryDeps {
  readonly database: Pick<Database, 'owner'>;
  readonly sinks: readonly RemoteSink[];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random: () => number;
}

const EVERY_MS = 5_000;
const LAST_RETRY_MS = 60_000;
const SEND_WITHIN_MS = 10_000;
/** Longer than one message takes: one replica sends to a place at a time. */
const LEASE_S = 30;
const BATCH = 200;

/** By the place, or on the way to it. */
class NotTaken extends Error {}

export class CheckpointDelivery {
  readonly #deps: DeliveryDeps;
  readonly #stop = new AbortController();
  /** Why the last message did not arrive, by the name of the place. */
  readonly #away = new Map<string, string>();
  readonly #tasks: Repeated[] = [];
  readonly #instruments;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#instruments = instrumentsOf(deps.metrics);
  }

  start(): void {
    const { sinks, clock, random } = this.#deps;
    for (const sink of sinks) {
      let pauseMs = EVERY_MS;
      const round = async () => {
        pauseMs = (await this.#deliverAll(sink)) ? EVERY_MS : Math.min(LAST_RETRY_MS, pauseMs * 2);
        return pauseMs;
      };
      this.#tasks.push(every(clock, { ms: EVERY_MS, jitter: 0.2, random }, round, () => undefined));
    }
  }

  /** What is being sent is broken off: whoever comes next sends it again. Nothing is waited for. */
  stop(): void {
    this.#stop.abort(new Error('the gateway stops'));
    for (const task of this.#tasks) void task.stop();
  }

  /** Which places take nothing, in a sentence; undefined: all do. */
  away(): string | undefined {
    if (this.#away.size === 0) return undefined;
    const which = [...this.#away].map(([name, why]) => `${name} (${why})`).join(', ');
    return `checkpoints do not reach ${which}; they wait in the database, and are in audit.checkpoint_file`;
  }

  /** All that there is for it. Whether nothing went wrong. Never rejects. */
  async #deliverAll(sink: RemoteSink): Promise<boolean> {
    try {
      while (!this.#stop.signal.aborted && (await this.#deliver(sink)));
      this.#came(sink);
      return true;
    } catch (error) {
      if (this.#stop.signal.aborted) return false;
      if (error instanceof NotTaken) this.#failed(sink, error);
      else
        this.#deps.log.warn(
          { err: error, sink: sink.name },
          'audit checkpoints could not be read to be sent: tried again',
        );
      return false;
    }
  }

  /** Whether there may be more. */
  async #deliver(sink: RemoteSink): Promise<boolean> {
    const { database, clock } = this.#deps;
    const position = await lease(database, sink.name);
    if (position === undefined) return false;
    let to = position;
    try {
      const { batch, last, count } = await batchAfter(database, position);
      if (batch === undefined) return false;
      const limit = { ms: SEND_WITHIN_MS, signal: this.#stop.signal };
      await within(clock, limit, (signal) => sink.send(batch, signal)).catch((error: unknown) => {
        throw new NotTaken(error instanceof Error ? error.message : String(error), { cause: error });
      });
      to = last;
      this.#instruments.sent.with(sink.name).add(count);
      return count === BATCH;
    } finally {
      await release(database, sink.name, to);
    }
  }

  #came({ name }: RemoteSink): void {
    if (!this.#away.delete(name)) return;
    this.#deps.log.info({ sink: name }, 'audit checkpoints reach their second place again');
    if (this.#away.size === 0) this.#instruments.degraded.set(0);
  }

  #failed({ name }: RemoteSink, { message: why }: NotTaken): void {
    this.#instruments.failures.with(name).add();
    this.#instruments.degraded.set(1);
    if (this.#away.get(name) !== why)
      this.#deps.log.warn(
        { sink: name, reason: why },
        'audit checkpoints do not reach their second place: tried again',
      );
    this.#away.set(name, why);
  }
}

function instrumentsOf(metrics: Metrics) {
  return {
    sent: metrics.counter(RECORDS_SERIES.ute_audit_checkpoints_sent_total),
    failures: metrics.counter(RECORDS_SERIES.ute_audit_checkpoint_failures_total),
    degraded: degradedGauge(metrics, 'audit_checkpoints'),
  };
}

/** How far the place is, for whoever may send to it now; undefined: another replica does. */
async function lease({ owner }: Pick<Database, 'owner'>, name: string): Promise<number | undefined> {
  await sql`INSERT INTO audit_sinks (name) VALUES (${name}) ON CONFLICT DO NOTHING`.execute(owner);
  const { rows } = await sql<{ position: number }>`
    UPDATE audit_sinks SET leased_until = now() + ${LEASE_S} * interval '1 second'
    WHERE name = ${name} AND leased_until < now() RETURNING position`.execute(owner);
  return rows[0]?.position;
}

async function release({ owner }: Pick<Database, 'owner'>, name: string, position: number): Promise<void> {
  await sql`UPDATE audit_sinks SET leased_until = 'epoch', position = greatest(position, ${position})
    WHERE name = ${name}`.execute(owner);
}

interface Row extends Omit<Checkpoint, 'at'> {
  readonly position: number;
  readonly at: Date;
}

interface Taken {
  readonly batch: CheckpointBatch | undefined;
  readonly last: number;
  readonly count: number;
}

async function batchAfter({ owner }: Pick<Database, 'owner'>, position: number): Promise<Taken> {
  const { rows } = await sql<Row>`
    SELECT position, tenant_id AS tenant, seq, encode(hash, 'hex') AS hash, at, previous, key_id AS key,
      encode(signature, 'hex') AS signature
    FROM audit_checkpoints WHERE position > ${position} ORDER BY position LIMIT ${BATCH}`.execute(owner);
  const last = rows.at(-1);
  if (last === undefined) return { batch: undefined, last: position, count: 0 };
  const text = rows.map(({ at, ...row }) => checkpointLine({ ...row, at: at.toISOString() })).join('');
  const sum = createHash('sha256').update(text).digest('hex').slice(0, 16);
  // Sorted by name they are in their order.
  const number = String(last.position).padStart(12, '0');
  return {
    batch: { text, id: `${number}-${sum}`, at: last.at.toISOString() },
    last: last.position,
    count: rows.length,
  };
}
