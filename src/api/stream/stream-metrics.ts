// What is counted of streams, asked for once.
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { STREAM_SERIES } from '../../ports/telemetry/series/streams.ts';

export type Transport = 'websocket' | 'grpc';
export type ResumeOutcome = 'here' | 'elsewhere' | 'refused';

export class StreamMetrics {
  readonly open;
  readonly detached;
  readonly leftOut;
  readonly paused;
  readonly #messages;
  readonly #resumes;
  readonly #ends;

  constructor(metrics: Metrics) {
    this.open = metrics.gauge(STREAM_SERIES.ute_streams_open).with();
    this.detached = metrics.gauge(STREAM_SERIES.ute_streams_detached).with();
    this.leftOut = metrics.counter(STREAM_SERIES.ute_stream_events_left_out_total).with();
    this.paused = metrics.counter(STREAM_SERIES.ute_stream_pauses_total).with();
    this.#messages = metrics.counter(STREAM_SERIES.ute_stream_messages_total);
    this.#resumes = metrics.counter(STREAM_SERIES.ute_stream_resumes_total);
    this.#ends = metrics.counter(STREAM_SERIES.ute_streams_ended_total);
  }

  /** `type`: one of the protocol's, or `malformed`. */
  message(direction: 'in' | 'out', type: string): void {
    this.#messages.with(direction, type).add();
  }

  resumed(outcome: ResumeOutcome): void {
    this.#resumes.with(outcome).add();
  }

  ended(reason: string): void {
    this.#ends.with(reason).add();
  }
}
