// StoredAuditSink: AuditSink over the local journal, its shipper, and, where the database is another machine's, its table.
import { afterAnswers } from '../../lib/timers/end-of-turn.ts';
import { every, type Repeated } from '../../lib/timers/every.ts';
import { settledWithin } from '../../lib/timers/settled-within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AuditRecord, AuditSink, RecordMaker, Unmade } from '../../ports/audit-sink.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { recordCounts, type RecordCounts } from './record-counts.ts';
import { RecordGaps } from './record-gaps.ts';
import { AuditJournal } from './audit-journal.ts';
import { auditLine } from './audit-line.ts';
import { AuditShipper, type AuditTable } from './audit-shipper.ts';
import { IntentGroups } from './intent-groups.ts';
import { isPutOff } from './refusal.ts';
import { SegmentFolder, type SegmentStorage } from './segment-folder.ts';

export interface StoredAuditOptions {
  /** Folder of the journal. */
  readonly path: string;
  readonly table: AuditTable & { intend(lines: readonly string[]): Promise<void> };
  /**
   * Intents go where they outlive this process and its machine: into the database, unless that is on the same disk as
   * the journal and would give nothing more.
   */
  readonly intents: 'database' | 'journal';
  readonly maxBacklogBytes: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random: () => number;
  readonly storage?: SegmentStorage;
}

interface Parts extends StoredAuditOptions {
  readonly journal: AuditJournal;
  readonly storage: SegmentStorage;
  readonly counts: RecordCounts;
  readonly gaps: RecordGaps;
}

const GAUGES_EVERY_MS = 1_000;
/** So many offered records are written out at once, in whatever is going on. */
const OFFERED_AT_ONCE = 256;

export class StoredAuditSink implements AuditSink {
  readonly readOnlyMode: AuditSink['readOnlyMode'];
  readonly #journal: AuditJournal;
  readonly #shipper: AuditShipper;
  readonly #groups: IntentGroups | undefined;
  readonly #storage: SegmentStorage;
  readonly #clock: Clock;
  readonly #counts: RecordCounts;
  readonly #gaps: RecordGaps;
  #offered: RecordMaker[] = [];
  #gauges: Repeated | undefined;

  private constructor(parts: Parts) {
    const { journal, storage, counts, gaps, table, intents, clock } = parts;
    this.readOnlyMode = intents === 'database' ? 'durable' : 'best_effort';
    this.#journal = journal;
    this.#storage = storage;
    this.#clock = clock;
    this.#counts = counts;
    this.#gaps = gaps;
    this.#shipper = new AuditShipper({ ...parts, rejected: counts.rejected });
    if (intents === 'database') this.#groups = new IntentGroups((lines) => table.intend(lines), clock);
  }

  /** Rejects if nothing can be written now: a gateway should not start without its audit log. */
  static async open(options: StoredAuditOptions): Promise<StoredAuditSink> {
    const storage = options.storage ?? (await SegmentFolder.open(options.path));
    const { clock, maxBacklogBytes } = options;
    const counts = recordCounts(options.metrics);
    const gaps = new RecordGaps(counts, clock);
    const lineOf = (make: RecordMaker) => lineMade(make, counts, gaps);
    const journal = await AuditJournal.open({ storage, clock, maxBacklogBytes, lineOf });
    const sink = new StoredAuditSink({ ...options, journal, storage, counts, gaps });
    sink.#shipper.start();
    sink.#showGauges();
    sink.#gauges = every(
      clock,
      { ms: GAUGES_EVERY_MS },
      () => sink.#showGauges(),
      (error) => options.log.error({ err: error }, 'the state of the audit log could not be shown'),
    );
    return sink;
  }

  /** Why calls that must be recorded are refused now. */
  get refusal(): string | undefined {
    return this.#journal.refusal;
  }

  ready(): void | Promise<void> {
    try {
      return this.#journal.ready();
    } catch (error) {
      this.#counts.refused.add();
      throw error;
    }
  }

  async intend(record: AuditRecord): Promise<void> {
    const line = auditLine(record);
    try {
      await (this.#groups?.commit(line) ?? this.#journal.append(line));
    } catch (error) {
      this.#counts.refused.add();
      throw error;
    }
    this.#counts.accepted.add();
  }

  async write(record: AuditRecord): Promise<void> {
    try {
      await this.#journal.append(auditLine(record));
    } catch (error) {
      if (isPutOff(error)) this.#counts.accepted.add();
      else this.#gaps.drop(record.tenant);
      throw error;
    }
    this.#counts.accepted.add();
  }

  /** Mostly gives the promise of all who wait for the same sync: one for each would be as much work as the record itself. */
  writeMade(make: RecordMaker): Promise<Unmade | undefined> {
    return this.#journal.appendMade(make) ?? this.#writeOnceItFits(make);
  }

  async #writeOnceItFits(make: RecordMaker): Promise<undefined> {
    await this.write(madeOrMissed(make, this.#gaps));
  }

  /** Made and written out once the answer has left: nobody waits for it. */
  offer(make: RecordMaker): void {
    this.#offered.push(make);
    if (this.#offered.length >= OFFERED_AT_ONCE) this.#takeIn();
    else if (this.#offered.length === 1) afterAnswers(() => this.#takeIn());
  }

  omit(tenant: string): void {
    this.#gaps.omit(tenant);
  }

  #takeIn(): void {
    const offered = this.#offered;
    this.#offered = [];
    for (const make of offered) {
      try {
        this.#keepOrCount(make());
      } catch {
        // What cannot be said of a call is a gap like any other; it must not end the process.
        this.#gaps.drop('');
      }
    }
  }

  #keepOrCount(record: AuditRecord): void {
    this.#fillGaps();
    if (this.#journal.offer(auditLine(record))) this.#counts.accepted.add();
    else this.#gaps.drop(record.tenant);
  }

  flush(): Promise<void> {
    this.#takeIn();
    return this.#journal.flush();
  }

  /** Everything accepted so far is in the database when it resolves. */
  async ship(): Promise<void> {
    await this.flush();
    await this.#shipper.ship();
  }

  /** Chains what statements of the database have recorded. */
  takeIn(): Promise<void> {
    return this.#shipper.takeIn();
  }

  /** How long ago that was accepted of which all is in the database by now; undefined while nothing is known. */
  get behindMs(): number | undefined {
    const { shippedTo } = this.#shipper;
    return shippedTo === undefined ? undefined : this.#clock.now() - shippedTo;
  }

  /** As much of it as the database takes in that time. Never rejects. */
  async shipWithin(ms: number): Promise<void> {
    await settledWithin(this.#clock, ms, this.ship());
  }

  /**
   * Ships for `withinMs` at most; what is not shipped by then stays on disk for the next start. Rejects if anything
   * accepted could not be written there.
   */
  async close(withinMs = 0): Promise<void> {
    void this.#gauges?.stop();
    this.#takeIn();
    // Records that cannot be made are gaps from then on. What cannot be written is told at the end.
    await this.#journal.flush().catch(() => undefined);
    this.#fillGaps();
    try {
      if (withinMs > 0) await this.shipWithin(withinMs);
      this.#shipper.stop();
      await this.#journal.close();
    } finally {
      await this.#storage.release();
    }
  }

  #fillGaps(): void {
    this.#gaps.fill((line) => this.#journal.offer(line));
  }

  #showGauges(): void {
    const { oldest, pending } = this.#journal;
    this.#fillGaps();
    this.#counts.degraded.set(this.#journal.isRefusing ? 1 : 0);
    this.#counts.pending.set(pending);
    this.#counts.lag.set(oldest === undefined ? 0 : Math.max(0, this.#clock.wall() - oldest) / 1000);
  }
}

/** Of a record that is made with others: each that cannot be is a gap. */
function lineMade(make: RecordMaker, { accepted }: RecordCounts, gaps: RecordGaps): string {
  const record = madeOrMissed(make, gaps);
  try {
    const line = auditLine(record);
    accepted.add();
    return line;
  } catch (error) {
    gaps.drop(record.tenant);
    throw error;
  }
}

function madeOrMissed(make: RecordMaker, gaps: RecordGaps): AuditRecord {
  try {
    return make();
  } catch (error) {
    gaps.drop('');
    throw error;
  }
}
