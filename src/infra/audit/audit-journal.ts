// AuditJournal: records on the local disk before anybody is answered, many of them with one sync; then to be shipped.
import type { RecordMaker, Unmade } from '../../ports/audit-sink.ts';
import type { Clock } from '../../ports/clock.ts';
import { ByteBudget } from './byte-budget.ts';
import { GatherTimer } from './gather-timer.ts';
import { JournalSegments } from './journal-segments.ts';
import { LINE_CHARACTERS, RecordGroup } from './record-group.ts';
import { putOff, refusalOf, unavailable } from './refusal.ts';
import type { Segment, SegmentStorage } from './segment-folder.ts';

export interface JournalOptions {
  readonly storage: SegmentStorage;
  readonly clock: Clock;
  /** Makes a record and writes it as a line. Where it throws, whoever waits for that record is told. */
  readonly lineOf: (make: RecordMaker) => string;
  /** On disk and not shipped: from here on no call is let in. */
  readonly maxBacklogBytes: number;
  /** Waiting for the disk. */
  readonly maxBufferedBytes?: number;
}

/** While nobody waits for the disk: one write and one sync for the records of so much time. */
const UNHURRIED_MS = 20;
const GROUP_RECORDS = 256;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * When a group cannot be written, those who wait are told, new records are refused, and the group is written again as a
 * whole into a new file until it succeeds: a record that is stored twice is one record.
 */
export class AuditJournal {
  readonly #segments: JournalSegments;
  readonly #lineOf: JournalOptions['lineOf'];
  readonly #maxBacklogBytes: number;
  /** Of `#waiting` and of the group that is being written: characters, which are bytes but for what is not ASCII. */
  readonly #budget: ByteBudget;
  #waiting = new RecordGroup();
  #spare = new RecordGroup();
  readonly #timer: GatherTimer;
  #failure: unknown;
  #retryMs = FIRST_RETRY_MS;
  #cycle: Promise<void> | undefined;
  #closed = false;

  private constructor(segments: JournalSegments, options: JournalOptions) {
    this.#segments = segments;
    this.#lineOf = options.lineOf;
    this.#timer = new GatherTimer(options.clock, () => void this.#writeGroup());
    this.#maxBacklogBytes = options.maxBacklogBytes;
    this.#budget = new ByteBudget(options.maxBufferedBytes ?? 8 << 20, options.clock);
  }

  /** Rejects if nothing can be written: a gateway should not start without its audit log. */
  static async open(options: JournalOptions): Promise<AuditJournal> {
    const { storage, clock } = options;
    return new AuditJournal(await JournalSegments.open(storage, clock), options);
  }

  /** Complete files, oldest first. */
  get sealed(): readonly Segment[] {
    return this.#segments.complete;
  }

  /** Records that are not shipped yet. */
  get pending(): number {
    return this.#waiting.records + this.#segments.records;
  }

  /** Which part of its share of the disk is taken, 0 to 1 and a little over. */
  get fullness(): number {
    return this.#segments.bytes / this.#maxBacklogBytes;
  }

  /** Epoch milliseconds of the oldest record on disk that is not shipped yet. */
  get oldest(): number | undefined {
    return this.#segments.oldest;
  }

  /** Whether a record would be refused now: the disk fails, or what is not shipped yet has reached its limit. */
  get isRefusing(): boolean {
    return this.#isDown() || this.fullness > 1;
  }

  /** Why, in words for an operator. */
  get refusal(): string | undefined {
    return this.isRefusing ? refusalOf(this.#failure) : undefined;
  }

  /** Lets a call in, perhaps after a wait for capacity; half of it is for the calls that run already. */
  ready(): void | Promise<void> {
    if (this.isRefusing) throw unavailable(this.#failure);
    if (!this.#budget.fits(0, 0.5)) return this.#untilItFits(0, 0.5);
  }

  /** Resolves when the line is synced. What it rejects with says by `isPutOff` whether the line is written later all the same. */
  async append(line: string): Promise<void> {
    while (!this.#budget.fits(line.length)) await this.#untilItFits(line.length, 1);
    if (this.#isDown()) throw unavailable(this.#failure);
    const { promise } = (this.#waiting.synced ??= Promise.withResolvers());
    this.#waiting.add(line);
    this.#added(line.length);
    await promise;
  }

  /**
   * As `append`, of a record that is made just before it is written. Resolves with those of its group that could not be made. Undefined
   * where it does not fit now, or the disk fails: what it rejects with is always put off.
   */
  appendMade(make: RecordMaker): Promise<Unmade | undefined> | undefined {
    if (!this.#budget.fits(LINE_CHARACTERS) || this.#isDown()) return undefined;
    const { promise } = (this.#waiting.synced ??= Promise.withResolvers());
    this.#waiting.addMaker(make);
    this.#added(LINE_CHARACTERS);
    return promise;
  }

  /** False: it does not fit now. */
  offer(line: string): boolean {
    if (!this.#budget.fits(line.length, 0.5) || this.isRefusing) return false;
    this.#waiting.add(line);
    this.#added(line.length);
    return true;
  }

  async flush(): Promise<void> {
    while (!this.#waiting.isEmpty || this.#cycle !== undefined) {
      await this.#writeGroup();
      if (this.#failure !== undefined) throw unavailable(this.#failure);
    }
  }

  /** Ends the current file, so that what is in it can be shipped. */
  async seal(): Promise<void> {
    while (this.#cycle !== undefined) await this.#cycle;
    if (this.#segments.recordsOfCurrent > 0) await this.#segments.end();
  }

  /** The segment has been shipped. */
  drop(segment: Segment): Promise<void> {
    return this.#segments.drop(segment);
  }

  /** Rejects if anything accepted could not be written after all. */
  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.flush();
    } finally {
      this.#closed = true;
      this.#timer.clear();
      await this.#segments.end();
    }
  }

  #isDown(): boolean {
    return this.#closed || this.#failure !== undefined;
  }

  async #untilItFits(bytes: number, part: number): Promise<void> {
    if (!(await this.#budget.wait(bytes, part, () => this.#isDown()))) throw unavailable(this.#failure);
  }

  #added(characters: number): void {
    const group = this.#waiting;
    this.#budget.take(characters);
    if (group.makers >= GROUP_RECORDS) this.#make(group);
    if (this.#cycle !== undefined || this.#failure !== undefined) return;
    if (group.records >= GROUP_RECORDS) void this.#writeGroup();
    else if (!this.#timer.isSet || (this.#timer.isUnhurried && group.synced !== undefined)) this.#gather();
  }

  #make(group: RecordGroup): void {
    const { characters } = group;
    group.make(this.#lineOf);
    this.#budget.take(group.characters - characters);
  }

  /** No time is given to those who wait: what comes while a group is written is the next, so that a slower disk has larger ones. */
  #gather(): void {
    if (this.#waiting.synced === undefined) this.#timer.after(UNHURRIED_MS, true);
    else this.#timer.soon();
  }

  /** Writes what has gathered; one group at a time. Never rejects. */
  #writeGroup(): Promise<void> {
    this.#cycle ??= this.#writeOnce().then((retryMs) => {
      this.#cycle = undefined;
      this.#budget.notify();
      if (this.#closed || this.#timer.isSet) return;
      if (retryMs !== undefined) this.#timer.after(retryMs);
      else if (!this.#waiting.isEmpty) this.#gather();
    });
    return this.#cycle;
  }

  /** The time after which to try again, if it failed. Nobody waits for the end of a file: what comes meanwhile begins the next. */
  async #writeOnce(): Promise<number | undefined> {
    this.#timer.clear();
    const group = this.#waiting;
    if (group.isEmpty && this.#failure === undefined) return undefined;
    this.#waiting = this.#spare;
    this.#make(group);
    try {
      await this.#segments.append(group.bytes, group.records, this.#failure !== undefined);
    } catch (error) {
      return this.#failed(group, error);
    }
    this.#failure = undefined;
    this.#retryMs = FIRST_RETRY_MS;
    this.#budget.give(group.characters);
    group.synced?.resolve(group.unmade);
    group.empty();
    this.#spare = group;
    if (this.#segments.isCurrentFull) await this.#segments.end();
    return undefined;
  }

  async #failed(group: RecordGroup, error: unknown): Promise<number> {
    this.#failure = error;
    group.synced?.reject(putOff(error));
    group.takeOver(this.#waiting);
    this.#spare = this.#waiting;
    this.#waiting = group;
    await this.#segments.end().catch(() => undefined);
    const delayMs = this.#retryMs;
    this.#retryMs = Math.min(LAST_RETRY_MS, delayMs * 2);
    return delayMs;
  }
}
