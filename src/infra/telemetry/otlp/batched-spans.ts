// BatchedSpans: sends spans to the collector behind the calls, so many in one request, and drops what it cannot send.
import { diag, TraceFlags } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { SpanBatch } from './span-batch.ts';

export interface BatchedSpansOptions {
  /** An ExportTraceServiceRequest, for the collector. */
  readonly exporter: SpanSender;
  /** Spans that wait at most, those under way not counted. */
  readonly mostWaiting: number;
  /** Milliseconds that the first of a batch waits at most. */
  readonly everyMs: number;
}

/** Of the library: with its own tries again, headers, certificates and compression. */
export interface SpanSender {
  export(
    request: Uint8Array,
    done: (result: { readonly code: ExportResultCode; readonly error?: Error }) => void,
  ): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

const MOST_OF_A_REQUEST = 512;
/** Of spans that hold arguments and results: far below what collectors take. */
const FULL_BYTES = 1_048_576;
/** With all tries of one request. */
const LONGEST_SEND_MS = 30_000;
/** Of all requests that wait. */
const MOST_BYTES = 32 * FULL_BYTES;

export class BatchedSpans implements SpanProcessor {
  readonly #exporter: SpanSender;
  readonly #mostWaiting: number;
  readonly #everyMs: number;
  readonly #open = new SpanBatch();
  /** Full ones, which wait for the one that is under way. */
  #full: { readonly request: Buffer; readonly count: number }[] = [];
  #waiting = { spans: 0, bytes: 0 };
  #dropped = 0;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor({ exporter, mostWaiting, everyMs }: BatchedSpansOptions) {
    this.#exporter = exporter;
    this.#mostWaiting = mostWaiting;
    this.#everyMs = everyMs;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#ended || (span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#waiting.spans + this.#open.count >= this.#mostWaiting || this.#waiting.bytes >= MOST_BYTES) {
      // Said at once: what is under way may take long.
      if (this.#dropped === 0) diag.warn('spans are dropped: too many wait to be sent');
      this.#dropped += 1;
      return;
    }
    this.#open.add(span);
    if (this.#open.count >= MOST_OF_A_REQUEST || this.#open.bytes >= FULL_BYTES) this.#close();
    else this.#timer ??= setTimeout(() => this.#close(), this.#everyMs).unref();
  }

  async forceFlush(): Promise<void> {
    this.#close();
    await this.#sending;
    await this.#exporter.forceFlush();
  }

  async shutdown(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.forceFlush();
    await this.#exporter.shutdown();
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#fill();
    if (this.#full.length > 0) this.#sending ??= this.#sendAll();
  }

  #fill(): void {
    const { count } = this.#open;
    if (count === 0) return;
    const request = this.#open.take();
    this.#full.push({ request, count });
    this.#waiting.spans += count;
    this.#waiting.bytes += request.length;
  }

  /** One after another: a collector that is slow is not asked for more. */
  async #sendAll(): Promise<void> {
    for (let next = this.#full.shift(); next !== undefined; next = this.#full.shift()) {
      const { request, count } = next;
      this.#waiting.spans -= count;
      this.#waiting.bytes -= request.length;
      await this.#send(request);
      this.#sayDropped();
    }
    // At once: what is full from now on is sent by another round.
    this.#sending = undefined;
  }

  /** Settles in any case: a collector may answer for ever. */
  #send(request: Buffer): Promise<void> {
    return new Promise((resolve) => {
      const ended = (problem?: string) => {
        clearTimeout(late);
        if (problem !== undefined) diag.error(`spans could not be sent: ${problem}`);
        resolve();
      };
      const late = setTimeout(() => ended(`no answer within ${LONGEST_SEND_MS} ms`), LONGEST_SEND_MS).unref();
      try {
        this.#exporter.export(request, ({ code, error }) =>
          ended(code === ExportResultCode.SUCCESS ? undefined : (error?.message ?? 'no reason')),
        );
      } catch (error) {
        ended(String(error));
      }
    });
  }

  #sayDropped(): void {
    if (this.#dropped === 0) return;
    diag.warn(`${this.#dropped} spans were dropped`);
    this.#dropped = 0;
  }
}
