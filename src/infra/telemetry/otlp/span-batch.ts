// SpanBatch: the spans of one request to a collector, put into bytes one by one, as they end.
import type { InstrumentationScope } from '@opentelemetry/core';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { writeAttributes, writePlainSpan } from './plain-span.ts';
import { sizeOfText, WireBuffer } from './wire-buffer.ts';

/** The first field of each message here, and the second, both of bytes behind their length. */
const FIRST = 0x0a;
const SECOND = 0x12;
const FIXED_BYTES = 64;
const MOST_BYTES_OF_A_UNIT = 3;

/** Holds bytes and no spans: what lives until it is sent is copied by every collection of garbage. */
export class SpanBatch {
  readonly #plain = new WireBuffer();
  #others: Uint8Array[] = [];
  #othersBytes = 0;
  #of: Pick<ReadableSpan, 'resource' | 'instrumentationScope'> | undefined;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Of its spans, so far. */
  get bytes(): number {
    return this.#plain.length + this.#othersBytes;
  }

  add(span: ReadableSpan): void {
    this.#count += 1;
    const { resource, instrumentationScope } = (this.#of ??= span);
    const isAlike = span.resource === resource && span.instrumentationScope === instrumentationScope;
    if (isAlike && this.#write(span)) return;
    // A message of its own: what protocol buffers hold several of may stand in several pieces.
    const bytes = ProtobufTraceSerializer.serializeRequest([span]);
    if (bytes === undefined) return;
    this.#others.push(bytes);
    this.#othersBytes += bytes.length;
  }

  /** Whatever is odd about a span is no reason for its call to fail, or for others to be lost: the library has it then. */
  #write(span: ReadableSpan): boolean {
    const before = this.#plain.length;
    try {
      return writePlainSpan(this.#plain, span);
    } catch {
      this.#plain.cutTo(before);
      return false;
    }
  }

  /** An ExportTraceServiceRequest with all of them. The batch is empty then. */
  take(): Buffer {
    const plain = this.#plain.take();
    const around = this.#of === undefined ? [] : bytesAround(plain.length, this.#of);
    // One copy: what has its length in front of it is not put together twice.
    const request = Buffer.concat(plain.length === 0 ? this.#others : [...around, plain, ...this.#others]);
    this.#others = [];
    this.#othersBytes = 0;
    this.#of = undefined;
    this.#count = 0;
    return request;
  }
}

/** What stands before plain spans of so many bytes: the messages that they are in, with their resource and scope. */
function bytesAround(
  spans: number,
  { resource, instrumentationScope }: Pick<ReadableSpan, 'resource' | 'instrumentationScope'>,
): Buffer[] {
  const ofResource = bytesOfResource(resource);
  const ofScope = bytesOfScope(instrumentationScope);
  const scopeSpans = beginning(SECOND, ofScope.length + spans);
  const size = ofResource.length + scopeSpans.length + ofScope.length + spans;
  return [beginning(FIRST, size), ofResource, scopeSpans, ofScope];
}

function bytesOfResource({ attributes }: Resource): Buffer {
  const to = new WireBuffer(FIXED_BYTES);
  writeAttributes(to, FIRST, attributes);
  return field(FIRST, to.take());
}

function bytesOfScope({ name, version = '' }: InstrumentationScope): Buffer {
  const to = new WireBuffer(FIXED_BYTES);
  to.makeRoom(FIXED_BYTES + MOST_BYTES_OF_A_UNIT * (name.length + version.length));
  to.byte(FIRST);
  to.text(name, sizeOfText(name));
  to.byte(SECOND);
  to.text(version, sizeOfText(version));
  return field(FIRST, to.take());
}

function field(tag: number, bytes: Buffer): Buffer {
  return Buffer.concat([beginning(tag, bytes.length), bytes]);
}

function beginning(tag: number, size: number): Buffer {
  const to = new WireBuffer(FIXED_BYTES);
  to.byte(tag);
  to.varint(size);
  return to.take();
}
