// BusyAuditTable: the audit table of a gateway that may have many calls: then a thread of its own chains and stores their records.
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { AuditTable } from '../audit-shipper.ts';

/** What StoringThread does. */
export interface ElsewhereTable {
  readonly hasEnded: boolean;
  store(lines: Uint8Array, fresh: boolean): Promise<void>;
  end(): Promise<void>;
}

export interface BusyTableDeps {
  /** In this thread. */
  readonly here: AuditTable & { intend(lines: readonly string[]): Promise<void> };
  readonly start: () => Promise<ElsewhereTable>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A gateway that records so much in a second, some 2,000 calls, would give a tenth of its event loop to it at its highest rate. */
const MANY_BYTES = 1 << 20;
const WITHIN_MS = 1_000;
/** Its memory is given back after so long without a record, and one that failed is not started again before. */
const REST_MS = 60_000;

export class BusyAuditTable implements AuditTable {
  readonly #deps: BusyTableDeps;
  #thread: ElsewhereTable | undefined;
  #starting: Promise<void> | undefined;
  #startAgainAt = Number.NEGATIVE_INFINITY;
  /** Of the second that began at `#since`. */
  #bytes = 0;
  #since = Number.NEGATIVE_INFINITY;
  #disarm: (() => void) | undefined;
  #closed = false;

  constructor(deps: BusyTableDeps) {
    this.#deps = deps;
  }

  async store(lines: Buffer, fresh: boolean): Promise<void> {
    this.#count(lines.length);
    const thread = this.#thread;
    if (thread === undefined) return this.#deps.here.store(lines, fresh);
    // However long this takes, it is not idle.
    this.#disarm?.();
    try {
      await thread.store(lines, fresh);
    } finally {
      if (thread.hasEnded) this.#lost();
      else this.#endWhenIdle();
    }
  }

  takeIn(reject: (record: string) => Promise<void>): Promise<void> {
    return this.#deps.here.takeIn(reject);
  }

  intend(lines: readonly string[]): Promise<void> {
    return this.#deps.here.intend(lines);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#starting;
    await this.#end();
  }

  #count(bytes: number): void {
    const now = this.#deps.clock.now();
    if (now - this.#since >= WITHIN_MS) {
      this.#since = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    const isAsked = this.#thread === undefined && this.#starting === undefined && !this.#closed;
    if (isAsked && this.#bytes >= MANY_BYTES && now >= this.#startAgainAt)
      this.#starting = this.#start().finally(() => (this.#starting = undefined));
  }

  /** Until it runs, records are stored here. */
  async #start(): Promise<void> {
    try {
      this.#thread = await this.#deps.start();
      this.#endWhenIdle();
    } catch (error) {
      this.#failed(error);
    }
  }

  #lost(): void {
    this.#thread = undefined;
    this.#disarm?.();
    this.#failed(undefined);
  }

  #failed(error: unknown): void {
    const { clock, log } = this.#deps;
    this.#startAgainAt = clock.now() + REST_MS;
    log.warn(
      { err: error },
      'the thread that stores audit records has ended: the main thread does it, and the thread is started again later',
    );
  }

  #endWhenIdle(): void {
    this.#disarm?.();
    this.#disarm = this.#deps.clock.after(REST_MS, () => void this.#end());
  }

  async #end(): Promise<void> {
    this.#disarm?.();
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.end();
  }
}
