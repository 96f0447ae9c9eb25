// startTelemetry: the OpenTelemetry SDK, where an endpoint is set. Traces, metrics and logs by OTLP over HTTP, behind the calls.
import { randomUUID } from 'node:crypto';
import { diag, DiagLogLevel, logs } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, type LogRecordProcessor } from '@opentelemetry/sdk-logs';
import { PeriodicExportingMetricReader, type IMetricReader } from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { StackContextManager, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { ReadMetric } from '../metric-series.ts';
import type { LogLine } from '../json-log.ts';
import { BatchedSpans } from './batched-spans.ts';
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
const NAME = 'unified-tool-executor';

export function startTelemetry(options: TelemetryOptions, read: () => Iterable<ReadMetric>): Telemetry {
  const { traces, metrics, logs: takesLines, version } = options;
  // Of several processes and replicas each has series of its own.
  const own = {
    'service.name': NAME,
    'service.version': version,
    'service.instance.id': randomUUID(),
  };
  const resource = resourceFromAttributes(own)
    .merge(defaultResource())
    .merge(resourceFromAttributes(named(own)));
  const sdk = new NodeSDK({
    resource,
    // Nothing else about the machine is sent, nothing is patched, and nothing comes from variables that name no endpoint.
    autoDetectResources: false,
    instrumentations: [],
    // A call carries its trace itself: what would follow every promise costs each of them.
    contextManager: new StackContextManager(),
    textMapPropagator: new W3CTraceContextPropagator(),
    sampler: new ErrorSampler(options.sampleRatio),
    spanProcessors: traces ? [spansTo(options)] : [],
    metricReaders: metrics ? [seriesTo(options, resource, read)] : [],
    logRecordProcessors: takesLines ? [linesTo(options)] : [],
  });
  sdk.start();
  const logger = takesLines ? logs.getLogger(NAME, version) : undefined;
  return {
    takeLine: logger === undefined ? undefined : (line) => emitLine(logger, line),
    complainTo,
    close: () => sdk.shutdown().catch(() => undefined),
  };
}

/** As OpenTelemetry's own variables say, where they do. */
function named(own: Record<string, string>): Record<string, string> {
  const { OTEL_SERVICE_NAME: name } = process.env;
  return name === undefined ? own : { ...own, 'service.name': name };
}

const urlOf = ({ endpoint }: TelemetryOptions, what: string) => `${endpoint.replace(/\/+$/, '')}/v1/${what}`;

function spansTo(options: TelemetryOptions): SpanProcessor {
  const http = convertLegacyHttpOptions({ url: urlOf(options, 'traces') }, 'TRACES', 'v1/traces', {
    'Content-Type': 'application/x-protobuf',
  });
  const serializer = {
    serializeRequest: (request: Uint8Array) => request,
    deserializeResponse: (bytes: Uint8Array) => ProtobufTraceSerializer.deserializeResponse(bytes),
  };
  // Its own figures of what it sends are not asked for.
  const uncounted = { name: 'span', countItems: () => 0 } as const;
  const exporter = createOtlpHttpExportDelegate(
    http,
    serializer,
    'otlp_http_span_exporter',
    uncounted,
    undefined,
  );
  return new BatchedSpans({ exporter, mostWaiting: MAX_WAITING, everyMs: options.exportEveryMs });
}

function seriesTo(
  options: TelemetryOptions,
  resource: Resource,
  read: () => Iterable<ReadMetric>,
): IMetricReader {
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: urlOf(options, 'metrics') }),
    exportIntervalMillis: options.exportEveryMs,
    exportTimeoutMillis: options.exportEveryMs,
    metricProducers: [new SeriesProducer(read, resource)],
  });
}

function linesTo(options: TelemetryOptions): LogRecordProcessor {
  return new BatchLogRecordProcessor({
    exporter: new OTLPLogExporter({ url: urlOf(options, 'logs') }),
    maxQueueSize: MAX_WAITING,
    scheduledDelayMillis: options.exportEveryMs,
  });
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
