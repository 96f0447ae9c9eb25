// StoreHealth: whether Redis can be asked, whether it is still the Redis it was, and how many replicas share it.
import { randomUUID } from 'node:crypto';
import { backoffMs, type Backoff } from '../../lib/timers/backoff.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import type { RenewReply } from '../admission/redis/admission-store.ts';

/** The call has to be decided without the store. */
export class StoreAway extends Error {}

export interface HealthDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly degraded: Gauge;
  readonly random: () => number;
  /** How long a store that has lost its leases is used with care: until all leases it may have had are renewed or over. */
  readonly quarantineMs: number;
  /** Asks the store which one it is; it takes the epoch offered if it has none. */
  join(epoch: string, offered: string): Promise<RenewReply>;
  /** Before the store is used again. `isNew`: it does not know what it granted. */
  joined(epoch: string, isNew: boolean): Promise<unknown>;
  onChange(isUp: boolean): void;
  /** The connection may be dead without knowing it: takes a new one. */
  reconnect(): void;
}

const PROBES: Backoff = { firstMs: 100, lastMs: 1_000, least: 0.5 };
const PROBES_PER_CONNECTION = 3;

/**
 * One failed command opens the circuit: from then on nobody waits for the store until a probe, which writes, has
 * succeeded. That costs little, because the share of this replica goes on meanwhile.
 */
export class StoreHealth {
  readonly #deps: HealthDeps;
  #isUp = false;
  #epoch = '';
  #replicas = 1;
  #quarantineUntil = 0;
  #joining: Promise<void> | undefined;
  #failedProbes = 0;
  #cancelProbe: (() => void) | undefined;
  #stopped = false;

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get epoch(): string {
    return this.#epoch;
  }

  get inQuarantine(): boolean {
    return performance.now() < this.#quarantineUntil;
  }

  /** What this replica may take of a limit without asking. */
  shareOf(limit: number): number {
    return Math.max(1, Math.floor(limit / this.#replicas));
  }

  get replicas(): number {
    return this.#replicas;
  }

  /** In a store that has just lost everything the others have not said yet that they live. */
  countReplicas(replicas: number): void {
    this.#replicas = Math.max(1, this.inQuarantine ? Math.max(this.#replicas, replicas) : replicas);
  }

  /** The first time: true if the store answered. */
  async start(): Promise<boolean> {
    await this.#probe();
    return this.#isUp;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelProbe?.();
  }

  failed(error: unknown): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#deps.degraded.set(1);
    this.#deps.log.warn(
      { err: error },
      'limits are enforced by each replica, by its share or their policy, until Redis answers again: it is unreachable',
    );
    this.#deps.onChange(false);
    this.#probeLater();
  }

  /** The store is back, or another one. Calls that notice at the same time share one look. */
  async rejoin(): Promise<void> {
    this.#joining ??= this.#join().finally(() => (this.#joining = undefined));
    await this.#joining;
  }

  async #join(): Promise<void> {
    const { log, quarantineMs } = this.#deps;
    const { epoch, replicas } = await this.#deps.join(this.#epoch, randomUUID());
    const isNew = this.#epoch !== '' && epoch !== this.#epoch;
    if (isNew) {
      this.#quarantineUntil = performance.now() + quarantineMs;
      log.warn(
        { quarantine_ms: quarantineMs },
        'Redis has lost the leases of running calls: this replica enforces its share of the limits for quarantine_ms',
      );
    }
    this.#epoch = epoch;
    this.countReplicas(replicas);
    await this.#deps.joined(epoch, isNew);
  }

  async #probe(): Promise<void> {
    try {
      await this.rejoin();
      this.#failedProbes = 0;
      if (!this.#isUp) this.#up();
    } catch {
      this.#failedProbes += 1;
      this.#deps.degraded.set(1);
      if (this.#failedProbes % PROBES_PER_CONNECTION === 0) this.#deps.reconnect();
      this.#probeLater();
    }
  }

  #up(): void {
    this.#isUp = true;
    this.#deps.degraded.set(0);
    this.#deps.log.info({ replicas: this.#replicas }, 'limits hold over all replicas, by Redis');
    this.#deps.onChange(true);
  }

  #probeLater(): void {
    if (this.#stopped) return;
    const waitMs = backoffMs(PROBES, this.#failedProbes, this.#deps.random);
    this.#cancelProbe?.();
    this.#cancelProbe = this.#deps.clock.after(waitMs, () => void this.#probe());
  }
}
