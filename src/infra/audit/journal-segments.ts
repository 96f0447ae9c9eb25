// JournalSegments: the files of the journal: the one that is being written, and the complete ones, oldest first.
import type { Clock } from '../../ports/clock.ts';
import type { Segment, SegmentFile, SegmentStorage } from './segment-folder.ts';

const SEGMENT_BYTES = 1 << 20;
/** Of one made ahead: a group goes beyond its end. */
const ROOM = SEGMENT_BYTES + (SEGMENT_BYTES >> 3);

/** The file that is being written. */
interface OpenSegment {
  readonly file: SegmentFile;
  readonly mayRepeat: boolean;
  bytes: number;
  records: number;
  since: number;
}

export class JournalSegments {
  readonly #storage: SegmentStorage;
  readonly #clock: Clock;
  #current: OpenSegment | undefined;
  #complete: readonly Segment[] = [];
  /** Of the complete ones together, and of those that are about to be. */
  #completeBytes = 0;
  #completeRecords = 0;

  private constructor(storage: SegmentStorage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** With the files that an earlier process left, and one to write to. Rejects if nothing can be written. */
  static async open(storage: SegmentStorage, clock: Clock): Promise<JournalSegments> {
    const segments = new JournalSegments(storage, clock);
    for (const segment of await storage.leftovers()) segments.#expect(segment)();
    await segments.#begin(false);
    return segments;
  }

  /** The list stays as it is while others are added and removed. */
  get complete(): readonly Segment[] {
    return this.#complete;
  }

  get bytes(): number {
    return this.#completeBytes + (this.#current?.bytes ?? 0);
  }

  get records(): number {
    return this.#completeRecords + this.recordsOfCurrent;
  }

  get recordsOfCurrent(): number {
    return this.#current?.records ?? 0;
  }

  get isCurrentFull(): boolean {
    return (this.#current?.bytes ?? 0) >= SEGMENT_BYTES;
  }

  /** Epoch milliseconds of the oldest record. */
  get oldest(): number | undefined {
    return this.#complete[0]?.since ?? (this.#current?.records ? this.#current.since : undefined);
  }

  /** A file to write to, if there is none. `mayRepeat`: records in it may be in an earlier one too. */
  async #begin(mayRepeat: boolean): Promise<OpenSegment> {
    return (this.#current ??= {
      file: await this.#storage.create(),
      mayRepeat,
      bytes: 0,
      records: 0,
      since: 0,
    });
  }

  /** Synced when it resolves. */
  async append(bytes: Uint8Array, records: number, mayRepeat: boolean): Promise<void> {
    const segment = await this.#begin(mayRepeat);
    if (segment.bytes === 0) segment.since = this.#clock.wall();
    // Counted first: a part of it may arrive.
    segment.bytes += bytes.length;
    await segment.file.append(bytes);
    segment.records += records;
    if (segment.bytes >= SEGMENT_BYTES / 2) this.#storage.prepare(ROOM);
  }

  /** Completes the one that is being written. */
  async end(): Promise<void> {
    const segment = this.#current;
    if (segment === undefined) return;
    this.#current = undefined;
    const { file, ...said } = segment;
    const complete = this.#expect({ path: file.path, ...said });
    // What matters about this file has been said by then: a failed close changes nothing.
    await file.close().catch(() => undefined);
    if (said.bytes === 0) await this.#storage.remove(file.path);
    else complete();
  }

  /** The segment has been shipped. */
  async drop(segment: Segment): Promise<void> {
    await this.#storage.remove(segment.path);
    if (!this.#complete.includes(segment)) return;
    this.#complete = this.#complete.filter((each) => each !== segment);
    this.#completeBytes -= segment.bytes;
    this.#completeRecords -= segment.records;
  }

  /** Counted from now on, and in the list when the function is called: while a file is closed, there is no room for more. */
  #expect(segment: Segment): () => void {
    this.#completeBytes += segment.bytes;
    this.#completeRecords += segment.records;
    return () => {
      this.#complete = [...this.#complete, segment];
    };
  }
}
