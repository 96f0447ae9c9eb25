// AuditJournal: records on the local disk before anybody is answered, many of them with one sync; then to be shipped.
import type { Clock } from '../../ports/clock.ts';
import { ByteBudget } from './byte-budget.ts';
import { GatherTimer } from './gather-timer.ts';
import { RecordGroup } from './record-group.ts';
import { putOff, refusalOf, unavailable } from './refusal.ts';
import { openSegment, sealedOf, SealedSegments, type OpenSegment } from './sealed-segments.ts';
import type { Segment, SegmentStorage } from './segment-folder.ts';

export interface JournalOptions {
  readonly storage: SegmentStorage;
  readonly clock: Clock;
  /** On disk and not shipped: from here on no call is let in. */
  readonly maxBacklogBytes: number;
  /** Waiting for the disk. */
  readonly maxBufferedBytes?: number;
}

/** While nobody waits for the disk: one write and one sync for the records of so much time. */
const UNHURRIED_MS = 20;
const GROUP_RECORDS = 256;
const SEGMENT_BYTES = 1 << 20;
/** Of one made ahead: a group goes beyond its end. */
const ROOM = SEGMENT_BYTES + (SEGMENT_BYTES >> 3);
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * When a group cannot be written, those who wait are told, new records are refused, and the group is written again as a
 * whole into a new file until it succeeds: a record that is stored twice is one record.
 */
export class AuditJournal {
  readonly #storage: SegmentStorage;
  readonly #clock: Clock;
  readonly #maxBacklogBytes: number;
  /** Of `#waiting` and of the group that is being written: characters, which are bytes but for what is not ASCII. */
  readonly #budget: ByteBudget;
  #waiting = new RecordGroup();
  #spare = new RecordGroup();
  #current: OpenSegment | undefined;
  readonly #sealed = new SealedSegments();
  readonly #timer: GatherTimer;
  #failure: unknown;
  #retryMs = FIRST_RETRY_MS;
  #cycle: Promise<void> | undefined;
  #closed = false;

  private constructor(options: JournalOptions) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#timer = new GatherTimer(options.clock, () => void this.#writeGroup());
    this.#maxBacklogBytes = options.maxBacklogBytes;
    this.#budget = new ByteBudget(options.maxBufferedBytes ?? 8 << 20, options.clock);
  }

  /** Rejects if nothing can be written: a gateway should not start without its audit log. */
  static async open(options: JournalOptions): Promise<AuditJournal> {
    const journal = new AuditJournal(options);
    for (const segment of await options.storage.leftovers()) journal.#sealed.add(segment);
    await journal.#segment();
    return journal;
  }

  /** Complete files, oldest first. */
  get sealed(): readonly Segment[] {
    return this.#sealed.list;
  }

  /** Records that are not shipped yet. */
  get pending(): number {
    return this.#waiting.records + (this.#current?.records ?? 0) + this.#sealed.records;
  }

  /** Which part of its share of the disk is taken, 0 to 1 and a little over. */
  get fullness(): number {
    return (this.#sealed.bytes + (this.#current?.bytes ?? 0)) / this.#maxBacklogBytes;
  }

  /** Epoch milliseconds of the oldest record on disk that is not shipped yet. */
  get oldest(): number | undefined {
    return this.#sealed.list[0]?.since ?? (this.#current?.records ? this.#current.since : undefined);
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
    if (!this.#budget.fits(line.length)) await this.#untilItFits(line.length, 1);
    const synced = this.appendNow(line);
    if (synced === undefined && this.#isDown()) throw unavailable(this.#failure);
    return synced ?? this.append(line);
  }

  /** As `append`, but undefined where it does not fit now, or the disk fails: what it rejects with is always put off. */
  appendNow(line: string): Promise<void> | undefined {
    if (!this.#budget.fits(line.length) || this.#isDown()) return undefined;
    const { promise } = (this.#waiting.synced ??= Promise.withResolvers<void>());
    this.#push(line);
    return promise;
  }

  /** False: it does not fit now. */
  offer(line: string): boolean {
    if (!this.#budget.fits(line.length, 0.5) || this.isRefusing) return false;
    this.#push(line);
    return true;
  }

  async flush(): Promise<void> {
    while (this.#waiting.records > 0 || this.#cycle !== undefined) {
      await this.#writeGroup();
      if (this.#failure !== undefined) throw unavailable(this.#failure);
    }
  }

  /** Ends the current file, so that what is in it can be shipped. */
  async seal(): Promise<void> {
    while (this.#cycle !== undefined) await this.#cycle;
    if (this.#current?.records) await this.#endSegment();
  }

  /** The segment has been shipped. */
  async drop(segment: Segment): Promise<void> {
    await this.#storage.remove(segment.path);
    this.#sealed.remove(segment);
  }

  /** Rejects if anything accepted could not be written after all. */
  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.flush();
    } finally {
      this.#closed = true;
      this.#timer.clear();
      await this.#endSegment();
    }
  }

  #isDown(): boolean {
    return this.#closed || this.#failure !== undefined;
  }

  async #untilItFits(bytes: number, part: number): Promise<void> {
    if (!(await this.#budget.wait(bytes, part, () => this.#isDown()))) throw unavailable(this.#failure);
  }

  #push(line: string): void {
    const group = this.#waiting;
    group.add(line);
    this.#budget.take(line.length);
    if (this.#cycle !== undefined || this.#failure !== undefined) return;
    if (group.records >= GROUP_RECORDS) void this.#writeGroup();
    else if (!this.#timer.isSet || (this.#timer.isUnhurried && group.synced !== undefined)) this.#gather();
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
      else if (this.#waiting.records > 0) this.#gather();
    });
    return this.#cycle;
  }

  /** The time after which to try again, if it failed. Nobody waits for the end of a file: what comes meanwhile begins the next. */
  async #writeOnce(): Promise<number | undefined> {
    this.#timer.clear();
    const group = this.#waiting;
    if (group.records === 0 && this.#failure === undefined) return undefined;
    this.#waiting = this.#spare;
    try {
      await this.#write(group);
    } catch (error) {
      return this.#failed(group, error);
    }
    this.#failure = undefined;
    this.#retryMs = FIRST_RETRY_MS;
    this.#budget.give(group.characters);
    group.synced?.resolve();
    group.empty();
    this.#spare = group;
    if ((this.#current?.bytes ?? 0) >= SEGMENT_BYTES) await this.#endSegment();
    return undefined;
  }

  async #write({ bytes, records }: RecordGroup): Promise<void> {
    const segment = await this.#segment();
    if (segment.bytes === 0) segment.since = this.#clock.wall();
    // Counted first: a part of it may arrive.
    segment.bytes += bytes.length;
    await segment.file.append(bytes);
    segment.records += records;
    if (segment.bytes >= SEGMENT_BYTES / 2) this.#storage.prepare(ROOM);
  }

  async #failed(group: RecordGroup, error: unknown): Promise<number> {
    this.#failure = error;
    group.synced?.reject(putOff(error));
    group.addAll(this.#waiting);
    group.synced = this.#waiting.synced;
    this.#waiting.empty();
    this.#spare = this.#waiting;
    this.#waiting = group;
    await this.#endSegment().catch(() => undefined);
    const delayMs = this.#retryMs;
    this.#retryMs = Math.min(LAST_RETRY_MS, delayMs * 2);
    return delayMs;
  }

  async #segment(): Promise<OpenSegment> {
    return (this.#current ??= openSegment(await this.#storage.create(), this.#failure !== undefined));
  }

  async #endSegment(): Promise<void> {
    const segment = this.#current;
    if (segment === undefined) return;
    this.#current = undefined;
    const { file, bytes } = segment;
    const complete = this.#sealed.expect(sealedOf(segment));
    // What matters about this file has been said by then: a failed close changes nothing.
    await file.close().catch(() => undefined);
    if (bytes === 0) await this.#storage.remove(file.path);
    else complete();
  }
}
