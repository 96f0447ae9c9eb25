// startTelemetry: the OpenTelemetry SDK, where an endpoint is set. Traces, metrics and logs by OTLP over HTTP, behind the calls.
import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { ReadMetric } from '../metric-series.ts';
import type { LogLine } from '../pino-log.ts';
import { ErrorSampler } from './error-sampler.ts';
import { emitLine } from './exported-log.ts';
import { SeriesProducer } from './series-producer.ts';

export interface TelemetryOptions {
  /** Its base: /v1/traces, /v1/metrics and /v1/logs lie under it. */
  readonly endpoint: string;
  readonly traces: boolean;
  readonly metrics: boolean;
  readonly logs: boolean;
  readonly sampleRatio: number;
  readonly exportEveryMs: number;
  readonly version: string;
}

export interface Telemetry {
  /** What takes log lines; undefined: they are not exported. */
  readonly takeLine: ((line: LogLine) => void) | undefined;
  /** From now on it is said there when nothing can be sent. */
  complainTo(log: Log): void;
  /** Sends what is left. Settles when that is done, or cannot be done; the caller bounds the time. */
  close(): Promise<void>;
}

/** Spans and lines that wait to be sent; the next ones are dropped. */
const MAX_WAITING = 8_192;
const COMPLAIN_EVERY_MS = 60_000;

export function startTelemetry(options: TelemetryOptions, read: () => Iterable<ReadMetric>): Telemetry {
  const { traces, metrics, logs, version } = options;
  const own = { 'service.name': 'unified-tool-executor', 'service.version': version };
  const resource = resourceFromAttributes(own)
    .merge(defaultResource())
    .merge(resourceFromAttributes(named(own)));
  const closers: (() => Promise<void>)[] = [];
  if (traces) closers.push(startTraces(options, resource));
  if (metrics) closers.push(startMetrics(options, resource, read));
  const logger = logs ? logsTo(options, resource, closers) : undefined;
  return {
    takeLine: logger === undefined ? undefined : (line) => emitLine(logger, line),
    complainTo,
    async close() {
      await Promise.allSettled(closers.map(async (close) => close()));
    },
  };
}

/** As OpenTelemetry's own variables say, where they do. */
function named(own: Record<string, string>): Record<string, string> {
  const { OTEL_SERVICE_NAME: name } = process.env;
  return name === undefined ? own : { ...own, 'service.name': name };
}

const urlOf = ({ endpoint }: TelemetryOptions, what: string) => `${endpoint.replace(/\/+$/, '')}/v1/${what}`;

function startTraces(options: TelemetryOptions, resource: Resource): () => Promise<void> {
  const exporter = new OTLPTraceExporter({ url: urlOf(options, 'traces') });
  const provider = new TracerProvider({
    resource,
    sampler: new ErrorSampler(options.sampleRatio),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_WAITING,
        scheduledDelayMillis: options.exportEveryMs,
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return () => provider.shutdown();
}

function startMetrics(
  options: TelemetryOptions,
  resource: Resource,
  read: () => Iterable<ReadMetric>,
): () => Promise<void> {
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: urlOf(options, 'metrics') }),
    exportIntervalMillis: options.exportEveryMs,
    exportTimeoutMillis: options.exportEveryMs,
    metricProducers: [new SeriesProducer(read, resource)],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return () => provider.shutdown();
}

function logsTo(options: TelemetryOptions, resource: Resource, closers: (() => Promise<void>)[]) {
  const exporter = new OTLPLogExporter({ url: urlOf(options, 'logs') });
  const processor = new BatchLogRecordProcessor({
    exporter,
    maxQueueSize: MAX_WAITING,
    scheduledDelayMillis: options.exportEveryMs,
  });
  const provider = new LoggerProvider({ resource, processors: [processor] });
  closers.push(() => provider.shutdown());
  return provider.getLogger('unified-tool-executor', options.version);
}

/** Once a minute at most: each line is something to send as well. */
function complainTo(log: Log): void {
  let saidAt = Number.NEGATIVE_INFINITY;
  const say = (problem: string): void => {
    if (performance.now() - saidAt < COMPLAIN_EVERY_MS) return;
    saidAt = performance.now();
    log.warn({ problem }, 'telemetry cannot be sent: spans, metrics and lines are dropped until it can');
  };
  const ignored = () => undefined;
  diag.setLogger(
    { error: say, warn: say, info: ignored, debug: ignored, verbose: ignored },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
