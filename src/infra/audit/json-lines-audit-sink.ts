// JsonLinesAuditSink: audit records as lines of a file, written in groups behind the calls, refused when they cannot be.
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { AuditRecord, AuditSink } from '../../ports/audit-sink.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Counter, Metrics } from '../../ports/metrics.ts';
import { openAuditFile, type AuditFile, type OpenAuditFile } from './audit-file.ts';
import { auditLine } from './audit-line.ts';

export interface AuditSinkOptions {
  readonly path: string;
  /** Bytes that may wait for the disk. */
  readonly maxBufferedBytes?: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly openFile?: OpenAuditFile;
}

/** Lines on their way to the file; `offset` bytes of them have arrived. */
interface Batch {
  readonly bytes: Buffer;
  readonly lines: number;
  offset: number;
}

const NEWLINE = 0x0a;
const GROUP_MS = 10;
const GROUP_BYTES = 64 * 1024;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * A record is accepted into memory and is in the file at most about 10 ms later; a process that is killed loses
 * that much. From the moment a write fails until one succeeds, new records are refused, and those accepted
 * before are tried again: in order, no line in halves, none twice.
 */
export class JsonLinesAuditSink implements AuditSink {
  readonly #path: string;
  readonly #maxBufferedBytes: number;
  readonly #clock: Clock;
  readonly #openFile: OpenAuditFile;
  readonly #accepted: Counter;
  readonly #dropped: Counter;
  #lines: string[] = [];
  #batch: Batch | undefined;
  /** Bytes of `#lines` and of what is left of `#batch`. */
  #bufferedBytes = 0;
  #acceptedLines = 0;
  #writtenLines = 0;
  #file: AuditFile | undefined;
  #identity = '';
  #failure: unknown;
  #retryMs = FIRST_RETRY_MS;
  #cycle: Promise<void> | undefined;
  #stopTimer: (() => void) | undefined;
  #closed = false;

  private constructor({ path, maxBufferedBytes, clock, metrics, openFile }: AuditSinkOptions) {
    this.#path = path;
    this.#maxBufferedBytes = maxBufferedBytes ?? 8 * 1024 * 1024;
    this.#clock = clock;
    this.#openFile = openFile ?? openAuditFile;
    this.#accepted = metrics
      .counter({ name: 'ute_audit_records_total', help: 'Audit records accepted for writing.' })
      .with();
    this.#dropped = metrics
      .counter({
        name: 'ute_audit_dropped_total',
        help: 'Audit records refused because they could not be kept.',
      })
      .with();
  }

  /** Rejects if the file cannot be opened now: a gateway should not start without its audit log. */
  static async open(options: AuditSinkOptions): Promise<JsonLinesAuditSink> {
    const sink = new JsonLinesAuditSink(options);
    await sink.#openForAppend();
    return sink;
  }

  write(record: AuditRecord): void {
    const line = auditLine(record);
    const bytes = Buffer.byteLength(line);
    if (this.#isDown() || this.#bufferedBytes + bytes > this.#maxBufferedBytes) {
      this.#dropped.add();
      throw this.#unavailable();
    }
    this.#lines.push(line);
    this.#bufferedBytes += bytes;
    this.#acceptedLines += 1;
    this.#accepted.add();
    this.#schedule();
  }

  /** Says no from half of the bound on: the other half is for the calls that run already. */
  check(): void {
    if (this.#isDown() || this.#bufferedBytes * 2 > this.#maxBufferedBytes) throw this.#unavailable();
  }

  async flush(): Promise<void> {
    const target = this.#acceptedLines;
    while (this.#writtenLines < target) {
      await this.#writeGroup();
      if (this.#failure !== undefined) throw this.#unavailable();
    }
  }

  /** Rejects if anything accepted could not be written after all; the file is closed either way. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.flush();
      await this.#file?.sync();
    } catch (cause) {
      const lost = this.#acceptedLines - this.#writtenLines;
      this.#dropped.add(lost);
      throw new Error(`${lost} audit records could not be written to ${this.#path} before closing`, {
        cause,
      });
    } finally {
      this.#cancelTimer();
      await this.#closeFile();
    }
  }

  #isDown(): boolean {
    return this.#closed || this.#failure !== undefined;
  }

  #unavailable(): ToolFailure {
    return new ToolFailure('UNAVAILABLE', 'The audit log cannot be written at the moment.', {
      reason: 'AUDIT_UNAVAILABLE',
      cause: this.#failure,
    });
  }

  #schedule(): void {
    if (this.#cycle !== undefined) return;
    if (this.#bufferedBytes >= GROUP_BYTES) void this.#writeGroup();
    else this.#stopTimer ??= this.#clock.after(GROUP_MS, () => void this.#writeGroup());
  }

  #cancelTimer(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Writes what has gathered; one group at a time. Never rejects: a failure is remembered and tried again. */
  #writeGroup(): Promise<void> {
    this.#cycle ??= this.#writeOnce().then((delayMs) => {
      this.#cycle = undefined;
      if (this.#closed) return;
      if (delayMs !== undefined) this.#stopTimer = this.#clock.after(delayMs, () => void this.#writeGroup());
      else if (this.#lines.length > 0) this.#schedule();
    });
    return this.#cycle;
  }

  /** The time after which to try again, if it failed. */
  async #writeOnce(): Promise<number | undefined> {
    this.#cancelTimer();
    try {
      this.#batch ??= this.#takeBatch();
      const file = this.#file ?? (await this.#openForAppend());
      await this.#append(file, this.#batch);
      this.#writtenLines += this.#batch.lines;
      this.#batch = undefined;
      this.#failure = undefined;
      this.#retryMs = FIRST_RETRY_MS;
      return undefined;
    } catch (error) {
      this.#failure = error;
      await this.#closeFile();
      const delayMs = this.#retryMs;
      this.#retryMs = Math.min(LAST_RETRY_MS, delayMs * 2);
      return delayMs;
    }
  }

  #takeBatch(): Batch {
    const lines = this.#lines;
    this.#lines = [];
    return { bytes: Buffer.from(lines.join('')), lines: lines.length, offset: 0 };
  }

  async #append(file: AuditFile, batch: Batch): Promise<void> {
    while (batch.offset < batch.bytes.length) {
      const written = await file.append(batch.bytes.subarray(batch.offset));
      if (written <= 0) throw new Error(`nothing could be written to ${this.#path}`);
      batch.offset += written;
      this.#bufferedBytes -= written;
    }
  }

  /**
   * A line that was cut short goes on where it stopped if this is still the file that holds its beginning.
   * Otherwise it is written again from its start, and a stray beginning is ended, so that it spoils only itself.
   */
  async #openForAppend(): Promise<AuditFile> {
    const file = await this.#openFile(this.#path);
    try {
      const goesOn = file.endsInsideLine && file.identity === this.#identity && isInsideLine(this.#batch);
      if (!goesOn) {
        this.#rewindToLineStart();
        if (file.endsInsideLine) await file.append(Buffer.of(NEWLINE));
      }
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    this.#identity = file.identity;
    this.#file = file;
    return file;
  }

  #rewindToLineStart(): void {
    const batch = this.#batch;
    if (batch === undefined || !isInsideLine(batch)) return;
    const start = batch.bytes.lastIndexOf(NEWLINE, batch.offset - 1) + 1;
    this.#bufferedBytes += batch.offset - start;
    batch.offset = start;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    // What matters about this file has been said by then: a failed close changes nothing.
    await file?.close().catch(() => undefined);
  }
}

function isInsideLine(batch: Batch | undefined): boolean {
  return batch !== undefined && batch.offset > 0 && batch.bytes[batch.offset - 1] !== NEWLINE;
}
