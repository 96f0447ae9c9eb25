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

export class BatchedSpans implements SpanProcessor {
  readonly #exporter: SpanSender;
  readonly #mostWaiting: number;
  readonly #everyMs: number;
  readonly #open = new SpanBatch();
  /** Full ones, which wait for the one that is under way. */
  #full: Buffer[] = [];
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
    if (this.#full.length * MOST_OF_A_REQUEST + this.#open.count >= this.#mostWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#open.add(span);
    if (this.#open.count >= MOST_OF_A_REQUEST) this.#close();
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
    if (this.#open.count > 0) this.#full.push(this.#open.take());
    if (this.#full.length > 0) this.#sending ??= this.#sendAll();
  }

  /** One after another: a collector that is slow is not asked for more. */
  async #sendAll(): Promise<void> {
    for (let next = this.#full.shift(); next !== undefined; next = this.#full.shift()) {
      const request = next;
      await new Promise<void>((resolve) => {
        this.#exporter.export(request, ({ code, error }) => {
          if (code !== ExportResultCode.SUCCESS)
            diag.error(`spans could not be sent: ${error?.message ?? 'no reason'}`);
          resolve();
        });
      });
    }
    // At once: what is full from now on is sent by another round.
    this.#sending = undefined;
    if (this.#dropped === 0) return;
    diag.warn(`${this.#dropped} spans were dropped: ${this.#mostWaiting} waited to be sent`);
    this.#dropped = 0;
  }
}
