// A receiver that speaks OTLP over HTTP, as a collector does: keeps the spans, metrics and log records that it is sent.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

/** The parts of OpenTelemetry's protocol that are looked at. */
const PROTOCOL = `
syntax = "proto3";
message Traces { repeated ResourceSpans resource = 1; }
message ResourceSpans { repeated ScopeSpans scope = 2; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5;
  repeated KeyValue attributes = 9; Status status = 15;
}
message Status { string message = 2; int32 code = 3; }
message Metrics { repeated ResourceMetrics resource = 1; }
message ResourceMetrics { repeated ScopeMetrics scope = 2; }
message ScopeMetrics { repeated Metric metrics = 2; }
message Metric { string name = 1; string unit = 3; Points gauge = 5; Points sum = 7; Histogram histogram = 9; }
message Points { repeated NumberPoint data = 1; }
message NumberPoint { double as_double = 4; sfixed64 as_int = 6; repeated KeyValue attributes = 7; }
message Histogram { repeated HistogramPoint data = 1; }
message HistogramPoint { fixed64 count = 4; double sum = 5; repeated double bounds = 7; repeated KeyValue attributes = 9; }
message Logs { repeated ResourceLogs resource = 1; }
message ResourceLogs { repeated ScopeLogs scope = 2; }
message ScopeLogs { repeated LogRecord records = 2; }
message LogRecord { string severity = 3; Value body = 5; repeated KeyValue attributes = 6; bytes trace_id = 9; }
message KeyValue { string key = 1; Value value = 2; }
message Value { oneof value { string text = 1; bool flag = 2; int64 whole = 3; double number = 4; } }
`;
const TYPES = protobuf.parse(PROTOCOL).root;

type Attributes = Readonly<Record<string, unknown>>;
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it begins the trace. */
  readonly parentId: string;
  readonly name: string;
  readonly attributes: Attributes;
  readonly failed: boolean;
}
export interface ReceivedPoint {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Attributes;
  /** Of a histogram the sum. */
  readonly value: number;
  readonly count?: number;
}
export interface ReceivedLine {
  readonly severity: string;
  readonly body: unknown;
  readonly traceId: string;
  readonly attributes: Attributes;
}

// Whatever the protocol above says.
// eslint-disable-next-line typescript/no-explicit-any
type Wire = { readonly [field: string]: any };

export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly lines: ReceivedLine[] = [];
  /** All of them as they came. */
  readonly messages: { readonly path: string; readonly bytes: Buffer }[] = [];
  /** Of the last message that came. */
  points: ReceivedPoint[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#take(request.url ?? '', Buffer.concat(chunks));
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The spans of a trace, as far as they have come. */
  trace(traceId: string): readonly ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #take(path: string, body: Buffer): void {
    this.messages.push({ path, bytes: body });
    if (path === '/v1/traces') this.spans.push(...inside(body, 'Traces', 'spans').map(spanOf));
    else if (path === '/v1/logs') this.lines.push(...inside(body, 'Logs', 'records').map(lineOf));
    else if (path === '/v1/metrics') this.points = inside(body, 'Metrics', 'metrics').flatMap(pointsOf);
  }
}

function inside(body: Buffer, type: string, what: string): Wire[] {
  const message = TYPES.lookupType(type);
  const { resource } = message.toObject(message.decode(body), {
    longs: Number,
    defaults: true,
  });
  return (resource as Wire[]).flatMap(({ scope }) =>
    (scope as Wire[]).flatMap((each) => each[what] as Wire[]),
  );
}

const hex = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString('hex');

function attributesOf(list: unknown): Attributes {
  const pairs = (list as { key: string; value: Record<string, unknown> | null }[]).map(({ key, value }) => [
    key,
    Object.values(value ?? {})[0],
  ]);
  return Object.fromEntries(pairs) as Attributes;
}

function spanOf(span: Wire): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, attributes, status } = span;
  return {
    traceId: hex(traceId),
    spanId: hex(spanId),
    parentId: hex(parentSpanId),
    name: String(name),
    attributes: attributesOf(attributes),
    failed: status?.['code'] === 2,
  };
}

function lineOf({ severity, body, attributes, traceId }: Wire): ReceivedLine {
  const text = Object.values(body ?? {})[0];
  return {
    severity: String(severity),
    body: text,
    traceId: hex(traceId),
    attributes: attributesOf(attributes),
  };
}

function pointsOf({ name, unit, gauge, sum, histogram }: Wire): ReceivedPoint[] {
  const about = { name: String(name), unit: String(unit) };
  const numbers = (gauge?.['data'] ?? sum?.['data'] ?? []) as Wire[];
  const spread = (histogram?.['data'] ?? []) as Wire[];
  return [
    ...numbers.map(({ asDouble, attributes }) => ({
      ...about,
      value: Number(asDouble),
      attributes: attributesOf(attributes),
    })),
    ...spread.map(({ sum: total, count, attributes }) => ({
      ...about,
      value: Number(total),
      count: Number(count),
      attributes: attributesOf(attributes),
    })),
  ];
}
