// Specs of BatchedSpans: nothing is lost that there is room for, one request at a time, and what is dropped is said.
import { diag, DiagLogLevel, TraceFlags, type Span } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BatchedSpans, type SpanSender } from './batched-spans.ts';

/** A collector that answers when it is told to. */
class Collector implements SpanSender {
  readonly requests: Uint8Array[] = [];
  readonly #answers: ((code: ExportResultCode) => void)[] = [];
  ended = 0;

  export(request: Uint8Array, done: Parameters<SpanSender['export']>[1]): void {
    this.requests.push(request);
    this.#answers.push((code) => done({ code, error: new Error('no route') }));
  }

  /** The oldest request that has no answer. */
  async answer(code = ExportResultCode.SUCCESS): Promise<void> {
    this.#answers.shift()?.(code);
    await vi.advanceTimersByTimeAsync(0);
  }

  forceFlush = () => Promise.resolve();
  shutdown = () => {
    this.ended += 1;
    return Promise.resolve();
  };
}

const tracer = new TracerProvider().getTracer('gateway');
const spanOf = () => tracer.startSpan('x') as Span & ReadableSpan;
/** Of a span that is alone in its request. */
const countOf = (request: Uint8Array) => Buffer.from(request).toString('latin1').split('*\x01x').length - 1;

function started(mostWaiting = 2_000) {
  const exporter = new Collector();
  const spans = new BatchedSpans({ exporter, mostWaiting, everyMs: 5_000 });
  const end = (count: number) => {
    for (let each = 0; each < count; each += 1) spans.onEnd(spanOf());
  };
  return { exporter, spans, end };
}

describe('BatchedSpans', () => {
  const said: string[] = [];
  beforeEach(() => {
    vi.useFakeTimers();
    said.length = 0;
    const say = (line: string) => void said.push(line);
    const ignored = () => undefined;
    diag.setLogger(
      { error: say, warn: say, info: ignored, debug: ignored, verbose: ignored },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
  });
  afterEach(() => {
    diag.disable();
    vi.useRealTimers();
  });

  it('sends what there is when its time has come, in one request', async () => {
    const { exporter, end } = started();
    end(3);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(exporter.requests).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(exporter.requests.map(countOf)).toEqual([3]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(exporter.requests).toHaveLength(1);
  });

  it('sends 512 at once, and the next ones when the collector has answered', async () => {
    const { exporter, end } = started();
    end(512 + 512 + 6);
    expect(exporter.requests.map(countOf)).toEqual([512]);
    await exporter.answer();
    expect(exporter.requests.map(countOf)).toEqual([512, 512]);
    await exporter.answer();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(exporter.requests.map(countOf)).toEqual([512, 512, 6]);
  });

  it('sends on after a request that the collector did not take, and says it', async () => {
    const { exporter, end } = started();
    end(1_024);
    await exporter.answer(ExportResultCode.FAILED);
    expect(said).toEqual(['spans could not be sent: no route']);
    expect(exporter.requests.map(countOf)).toEqual([512, 512]);
  });

  it('sends on after a request that the collector never ends, and after one that cannot be begun', async () => {
    const { exporter, end } = started();
    end(1_024);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(said).toEqual(['spans could not be sent: no answer within 30000 ms']);
    expect(exporter.requests.map(countOf)).toEqual([512, 512]);
    const begin = vi.spyOn(exporter, 'export').mockImplementationOnce(() => {
      throw new Error('no memory');
    });
    end(1_024);
    await exporter.answer();
    await exporter.answer();
    expect(said.at(-1)).toBe('spans could not be sent: Error: no memory');
    expect(begin).toHaveBeenCalledTimes(2);
  });

  it('drops what it has no room for, says how many, and takes others again', async () => {
    const { exporter, end } = started(1_024);
    end(512);
    end(1_024 + 7);
    await exporter.answer();
    await exporter.answer();
    await exporter.answer();
    expect(said).toEqual(['spans are dropped: too many wait to be sent', '7 spans were dropped']);
    end(512);
    expect(exporter.requests.map(countOf)).toEqual([512, 512, 512, 512]);
  });

  it('holds so many bytes of spans that hold much, in requests of about one megabyte', async () => {
    const { exporter, spans } = started(100_000);
    const large = () =>
      tracer.startSpan('x', { attributes: { result: 'y'.repeat(300_000) } }) as Span & ReadableSpan;
    for (let each = 0; each < 4 * 40; each += 1) spans.onEnd(large());
    for (let each = 0; each < 40; each += 1) await exporter.answer();
    // One under way, and 28 that wait, of 1.2 MB each: the rest was dropped.
    expect(exporter.requests.map(({ length }) => Math.round(length / 300_000))).toEqual(
      Array.from({ length: 29 }, () => 4),
    );
    expect(said.at(-1)).toBe(`${160 - 29 * 4} spans were dropped`);
  });

  it('takes no span that is not to be kept', async () => {
    const { exporter, spans } = started();
    const span = spanOf();
    Object.assign(span.spanContext(), { traceFlags: TraceFlags.NONE });
    spans.onEnd(span);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(exporter.requests).toHaveLength(0);
  });

  it('sends what is left when it is ended, once, and takes nothing more', async () => {
    const { exporter, spans, end } = started();
    end(600);
    const ending = spans.shutdown();
    await exporter.answer();
    await exporter.answer();
    await ending;
    expect(exporter.requests.map(countOf)).toEqual([512, 88]);
    end(1);
    await spans.shutdown();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([exporter.requests.length, exporter.ended]).toEqual([2, 1]);
  });
});
