// AuditShipper: moves what the journal holds into the database, oldest first; a file is removed when its records are committed.
import { codeOf } from '../../lib/error-code.ts';
import { every, type Repeated } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter } from '../../ports/telemetry/metrics.ts';
import type { AuditJournal } from './audit-journal.ts';
import { endOfLines, halvesOf, piecesOf } from './json-lines.ts';
import type { Segment, SegmentStorage } from './segment-folder.ts';

/** What the shipper asks of the database. */
export interface AuditTable {
  /**
   * Lines of JSON, at least one; those that are there already are left as they are. One transaction. `fresh`: none can be
   * there, which need not be looked up then.
   */
  store(lines: Buffer, fresh: boolean): Promise<void>;
  /** What statements have recorded together with what they did; `reject` is given what no chain takes. */
  takeIn(reject: (record: string) => Promise<void>): Promise<void>;
}

export interface ShipperDeps {
  readonly journal: AuditJournal;
  readonly storage: SegmentStorage;
  readonly table: AuditTable;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts the records that the database refuses. */
  readonly rejected: Counter;
  readonly random: () => number;
}

/**
 * A number that is taken: somebody has moved the end of the chain, or added behind it. A rule that it breaks: no table of the
 * trail has one but that a day has a partition, which a database from a backup may lack. Nothing is wrong with the record.
 */
const NOT_OF_THE_RECORD: ReadonlySet<string> = new Set(['23505', '23514']);
const EVERY_MS = 1_000;
const LAST_RETRY_MS = 15_000;
/** Lines in one transaction, which costs a sync and holds the chains: a whole file of those that calls write. */
const CHUNK = 3_000;

export class AuditShipper {
  readonly #deps: ShipperDeps;
  #shipping: Promise<void> | undefined;
  #rounds: Repeated | undefined;
  #everyMs = EVERY_MS;
  #stopped = false;
  #shippedTo: number | undefined;
  /** A file of which something may have been stored: its answer was lost. */
  #begun: string | undefined;
  /** Of that file: what has been put aside, which is not put there again when the rest is tried again. */
  readonly #putAside = new Set<string>();

  constructor(deps: ShipperDeps) {
    this.#deps = deps;
  }

  /** Ships again and again, more slowly while the database is away. */
  start(): void {
    const { clock, random, log } = this.#deps;
    const failed = (error: unknown) =>
      log.error(
        { err: error },
        'the task that moves audit records to the database failed: it runs again, and the records stay in the journal',
      );
    this.#rounds = every(clock, { ms: EVERY_MS, jitter: 0.2, random }, () => this.#round(), failed);
  }

  /** By the clock: what the journal had accepted by then is in the table. Undefined before the first time. */
  get shippedTo(): number | undefined {
    return this.#shippedTo;
  }

  /** What is under way then is not waited for: a statement may hang, and what it stored is stored again at the next start. */
  stop(): void {
    this.#stopped = true;
    void this.#rounds?.stop();
  }

  /** Everything that the journal had accepted when it was asked. Rejects where the database cannot be reached. */
  async ship(): Promise<void> {
    // One that runs already may have begun before the last record.
    await this.#shipping?.catch(() => undefined);
    await this.takeIn();
    await this.#begin();
  }

  /** Chains what statements have recorded on their own. */
  async takeIn(): Promise<void> {
    const { table, storage, log, rejected } = this.#deps;
    await table.takeIn(async (record) => {
      log.error({}, 'an audit record cannot be chained: it is kept in rejected.jsonl');
      rejected.add();
      await storage.reject(Buffer.from(`${record}\n`));
    });
  }

  #begin(): Promise<void> {
    this.#shipping ??= this.#shipAll().finally(() => (this.#shipping = undefined));
    return this.#shipping;
  }

  /** Gives how long the pause after it is. */
  async #round(): Promise<number> {
    const { journal, log } = this.#deps;
    try {
      await this.#begin();
      this.#everyMs = EVERY_MS;
    } catch (error) {
      this.#everyMs = Math.min(LAST_RETRY_MS, this.#everyMs * 2);
      log.warn(
        { err: error, pending: journal.pending },
        'audit records could not be moved to the database: they stay in the journal, and it is tried again',
      );
    }
    return this.#everyMs;
  }

  async #shipAll(): Promise<void> {
    const { journal, clock } = this.#deps;
    const began = clock.now();
    if (journal.pending > 0 || journal.sealed.length > 0) {
      await journal.seal();
      // First: an intent stands before its outcome.
      await this.takeIn();
    }
    for (const segment of journal.sealed) {
      if (this.#stopped) return;
      await this.#shipOne(segment);
    }
    this.#shippedTo = began;
  }

  async #shipOne(segment: Segment): Promise<void> {
    const { journal, storage, log } = this.#deps;
    const bytes = await storage.read(segment.path);
    // Cut short by the end of a process: nobody was told that it was kept.
    if (endOfLines(bytes) < bytes.length)
      log.warn({ path: segment.path }, 'an audit record that a crash cut short was left out');
    const isNew = this.#begun !== segment.path;
    const fresh = segment.mayRepeat !== true && isNew;
    this.#begun = segment.path;
    if (isNew) this.#putAside.clear();
    for (const lines of piecesOf(bytes, CHUNK)) {
      await this.#store(lines, fresh);
      // From then on the files are the next start's.
      if (this.#stopped) return;
    }
    await journal.drop(segment);
  }

  /** One record that the database refuses holds up no other. */
  async #store(lines: Buffer, fresh: boolean): Promise<void> {
    const { table, storage, log, rejected } = this.#deps;
    try {
      await table.store(lines, fresh);
    } catch (error) {
      if (!isDataError(error)) throw error;
      const halves = halvesOf(lines);
      if (halves !== undefined) {
        for (const half of halves) await this.#store(half, fresh);
        return;
      }
      const text = lines.toString('latin1');
      if (this.#putAside.has(text)) return;
      log.error({ err: error }, 'the database refuses an audit record: it is kept in rejected.jsonl');
      rejected.add();
      await storage.reject(lines);
      this.#putAside.add(text);
    }
  }
}

/**
 * What is no record; or by its SQLSTATE data that does not fit (22), breaks a rule (23) or a limit (54), and would fail the
 * same way next time.
 */
export function isDataError(error: unknown): boolean {
  if (error instanceof SyntaxError) return true;
  const code = codeOf(error);
  return !NOT_OF_THE_RECORD.has(code) && /^(22|23|54)/.test(code);
}
