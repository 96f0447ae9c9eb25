// Specs of SpanBatch, and of plain-span and wire-buffer below it: a collector reads of it what it reads of the library's own serializer.
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type AttributeValue,
  type SpanContext,
} from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import * as fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { SpanBatch } from './span-batch.ts';

/** Of opentelemetry/proto/trace/v1/trace.proto: all that spans of the gateway can have. */
const REQUEST = protobuf
  .parse(
    `
syntax = "proto3";
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Scope { string name = 1; string version = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start = 7; fixed64 end = 8; repeated KeyValue attributes = 9; uint32 dropped_attributes = 10; repeated Event events = 11;
  uint32 dropped_events = 12; repeated Link links = 13; uint32 dropped_links = 14; Status status = 15; fixed32 flags = 16;
}
message Event { fixed64 time = 1; string name = 2; repeated KeyValue attributes = 3; }
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; repeated KeyValue attributes = 4; fixed32 flags = 6; }
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; Value value = 2; }
message Value { oneof value { string text = 1; bool flag = 2; int64 whole = 3; double number = 4; List list = 5; } }
message List { repeated Value values = 1; }
`,
    { keepCase: true },
  )
  .root.lookupType('Request');

interface Read {
  readonly resource_spans: readonly {
    readonly resource: object;
    readonly scope_spans: readonly {
      readonly scope: object;
      readonly spans: readonly { span_id: string }[];
    }[];
  }[];
}

/** Each span with its resource and scope, in the order of their ids. */
function readOf(bytes: Uint8Array) {
  const { resource_spans } = REQUEST.toObject(REQUEST.decode(bytes), {
    bytes: String,
    longs: String,
    defaults: true,
  }) as Read;
  return resource_spans
    .flatMap(({ resource, scope_spans }) =>
      scope_spans.flatMap(({ scope, spans }) => spans.map((span) => ({ resource, scope, span }))),
    )
    .toSorted((a, b) => (a.span.span_id < b.span.span_id ? -1 : 1));
}

interface Wanted {
  readonly name: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly kind: SpanKind;
  readonly failed?: string;
  readonly parent?: Partial<SpanContext>;
  readonly events?: readonly string[];
  readonly scope?: string;
}

function spansOf(wanted: readonly Wanted[]) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'gateway', 'service.instance.id': 'ä' }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  for (const { name, attributes, kind, failed, parent, events = [], scope = 'gateway' } of wanted) {
    const of =
      parent === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, {
            traceId: 'ab'.repeat(16),
            spanId: 'cd'.repeat(8),
            traceFlags: 1,
            ...parent,
          });
    const links = events.map(() => ({
      context: { traceId: '12'.repeat(16), spanId: '34'.repeat(8), traceFlags: 1 },
    }));
    const span = provider.getTracer(scope, '1.2').startSpan(name, { kind, attributes, links }, of);
    for (const event of events) span.addEvent(event, { at: 1 });
    if (failed !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failed });
    span.end();
  }
  return exporter.getFinishedSpans();
}

function bothOf(wanted: readonly Wanted[]) {
  const spans = spansOf(wanted);
  const batch = new SpanBatch();
  for (const span of spans) batch.add(span);
  const count = batch.count;
  const theirs = ProtobufTraceSerializer.serializeRequest([...spans]) ?? new Uint8Array();
  return { count, ours: batch.take(), theirs, after: batch.take(), batch };
}

const plain: Wanted = {
  name: 'execute_tool greet',
  attributes: { 'ute.door': 'rest' },
  kind: SpanKind.INTERNAL,
};
const text = () => fc.oneof(fc.string({ maxLength: 200 }), fc.string({ unit: 'binary', maxLength: 200 }));
const value = (): fc.Arbitrary<AttributeValue> =>
  fc.oneof(
    text(),
    fc.boolean(),
    fc.double(),
    fc.maxSafeInteger(),
    fc.nat(300),
    fc.array(fc.string(), { maxLength: 3 }),
  );
const span = (): fc.Arbitrary<Wanted> =>
  fc.record(
    {
      name: text(),
      attributes: fc.dictionary(text(), value(), { maxKeys: 12, noNullPrototype: true }),
      kind: fc.constantFrom(SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CONSUMER),
      failed: text(),
      parent: fc.constantFrom({}, { isRemote: true }, { traceState: createTraceState('a=b') }),
      events: fc.array(fc.string(), { maxLength: 2 }),
      scope: fc.constantFrom('gateway', 'another'),
    },
    { requiredKeys: ['name', 'attributes', 'kind'] },
  );

describe('SpanBatch', () => {
  it('says to a collector what the library says of any spans', () => {
    fc.assert(
      fc.property(fc.array(span(), { minLength: 1, maxLength: 6 }), (wanted) => {
        const { count, ours, theirs } = bothOf(wanted);
        expect(readOf(ours)).toEqual(readOf(theirs));
        expect(count).toBe(wanted.length);
      }),
    );
  });

  it.each([
    ['of less than 128 bytes', { ...plain, name: 'a', attributes: {} }],
    ['of more than 16,383 bytes', { ...plain, attributes: { long: 'ä'.repeat(70_000) } }],
    [
      'with many attributes',
      {
        ...plain,
        attributes: Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`a${at}`, 'x'.repeat(1_000)])),
      },
    ],
  ])('a span %s stands whole among others', (_what, wanted) => {
    const { ours, theirs } = bothOf([plain, wanted, plain]);
    expect(readOf(ours)).toEqual(readOf(theirs));
  });

  it('is one message of the library’s resource and scope for plain spans, however many', () => {
    const { ours } = bothOf(Array.from({ length: 600 }, () => plain));
    const { resource_spans } = REQUEST.toObject(REQUEST.decode(ours), { defaults: true }) as Read;
    expect(resource_spans.map(({ scope_spans }) => scope_spans.map(({ spans }) => spans.length))).toEqual([
      [600],
    ]);
  });

  it('is empty when it was taken, and takes others then', () => {
    const { after, batch } = bothOf([plain, { ...plain, events: ['x'] }]);
    expect([after.length, batch.count]).toEqual([0, 0]);
    const again = spansOf([plain]);
    for (const each of again) batch.add(each);
    expect(readOf(batch.take())).toEqual(
      readOf(ProtobufTraceSerializer.serializeRequest([...again]) ?? after),
    );
  });

  it.each([
    ['a time that is none', { startTime: [Number.NaN, 0] }],
    [
      'a parent without an id',
      { parentSpanContext: { traceId: 'ab'.repeat(16), spanId: '', traceFlags: 1 } },
    ],
  ])('keeps the others of a span with %s', (_what, changes) => {
    const [first, odd, last] = spansOf([plain, plain, plain]);
    const batch = new SpanBatch();
    batch.add(first!);
    batch.add(Object.assign(odd!, changes));
    batch.add(last!);
    expect(readOf(batch.take()).map(({ span: { span_id } }) => span_id)).toHaveLength(3);
  });
});
