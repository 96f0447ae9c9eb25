// writePlainSpan: a span as OpenTelemetry's protocol has it (opentelemetry/proto/trace/v1/trace.proto), as nearly all are: without
// links, events and lists. The library's serializer takes three times as long, in two passes, and holds each span until it is sent.
import type { Attributes, HrTime } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { sizeOfText, sizeOfVarint, type WireBuffer } from './wire-buffer.ts';

/** A field's number and wire type: 0 a number, 1 eight bytes, 2 what has a length, 5 four bytes. */
const tag = (field: number, type: 0 | 1 | 2 | 5) => (field << 3) | type;
const SPAN = tag(2, 2);
const TRACE_ID = tag(1, 2);
const SPAN_ID = tag(2, 2);
const PARENT_SPAN_ID = tag(4, 2);
const NAME = tag(5, 2);
const KIND = tag(6, 0);
const START_TIME = tag(7, 1);
const END_TIME = tag(8, 1);
const ATTRIBUTES = tag(9, 2);
const STATUS = tag(15, 2);
/** Of field 16 the tag has two bytes. */
const FLAGS = tag(16, 5);
const STATUS_MESSAGE = tag(2, 2);
const STATUS_CODE = tag(3, 0);
const KEY = tag(1, 2);
const VALUE = tag(2, 2);
const VALUE_TEXT = tag(1, 2);
const VALUE_FLAG = tag(2, 0);
const VALUE_WHOLE = tag(3, 0);
const VALUE_DOUBLE = tag(4, 1);

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;
const TRACE_FLAGS = 0xff;
const KNOWS_IF_PARENT_IS_REMOTE = 0x100;
const PARENT_IS_REMOTE = 0x200;
/** All of a span but its texts. */
const FIXED_BYTES = 256;
/** All of an attribute but its texts. */
const FIXED_ATTRIBUTE_BYTES = 32;
const MOST_BYTES_OF_A_UNIT = 3;

/** One of ScopeSpans' spans. False: it is none of these, and nothing is written. */
export function writePlainSpan(to: WireBuffer, span: ReadableSpan): boolean {
  const { name, kind, startTime, endTime, attributes, status, parentSpanContext } = span;
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  if (traceState !== undefined || !isPlain(span)) return false;
  const before = to.length;
  to.makeRoom(FIXED_BYTES + MOST_BYTES_OF_A_UNIT * (name.length + (status.message?.length ?? 0)));
  to.byte(SPAN);
  const from = to.open();
  to.byte(TRACE_ID);
  to.hex(traceId, TRACE_ID_DIGITS);
  to.byte(SPAN_ID);
  to.hex(spanId, SPAN_ID_DIGITS);
  if (parentSpanContext !== undefined) {
    to.byte(PARENT_SPAN_ID);
    to.hex(parentSpanContext.spanId, SPAN_ID_DIGITS);
  }
  to.byte(NAME);
  to.text(name, sizeOfText(name));
  to.byte(KIND);
  to.byte(kind + 1);
  to.byte(START_TIME);
  to.fixed64(nanosOf(startTime));
  to.byte(END_TIME);
  to.fixed64(nanosOf(endTime));
  writeStatus(to, status);
  to.varint(FLAGS);
  const remote = parentSpanContext?.isRemote === true ? PARENT_IS_REMOTE : 0;
  to.fixed32((traceFlags & TRACE_FLAGS) | KNOWS_IF_PARENT_IS_REMOTE | remote);
  if (!writeAttributes(to, ATTRIBUTES, attributes)) {
    to.cutTo(before);
    return false;
  }
  to.close(from);
  return true;
}

/** Each a field of the message that is being written. False: one is a list or an object, and something may have been written. */
export function writeAttributes(to: WireBuffer, field: number, attributes: Attributes): boolean {
  for (const key in attributes) if (!writeAttribute(to, field, key, attributes[key])) return false;
  return true;
}

function isPlain(span: ReadableSpan): boolean {
  if (span.links.length > 0 || span.events.length > 0) return false;
  return span.droppedAttributesCount + span.droppedEventsCount + span.droppedLinksCount === 0;
}

function writeStatus(to: WireBuffer, { code, message = '' }: ReadableSpan['status']): void {
  const size = sizeOfText(message);
  to.byte(STATUS);
  to.varint((size === 0 ? 0 : 1 + sizeOfVarint(size) + size) + 2);
  if (size > 0) {
    to.byte(STATUS_MESSAGE);
    to.text(message, size);
  }
  to.byte(STATUS_CODE);
  to.byte(code);
}

function writeAttribute(to: WireBuffer, field: number, key: string, value: unknown): boolean {
  if (typeof value === 'string') {
    const size = sizeOfText(value);
    beginAttribute(to, field, key, 1 + sizeOfVarint(size) + size);
    to.byte(VALUE_TEXT);
    to.text(value, size);
  } else if (typeof value === 'boolean') {
    beginAttribute(to, field, key, 2);
    to.byte(VALUE_FLAG);
    to.byte(value ? 1 : 0);
  } else if (typeof value !== 'number') return false;
  else if (Number.isSafeInteger(value) && value >= 0) {
    beginAttribute(to, field, key, 1 + sizeOfVarint(value));
    to.byte(VALUE_WHOLE);
    to.varint(value);
  } else if (!Number.isInteger(value)) {
    beginAttribute(to, field, key, 9);
    to.byte(VALUE_DOUBLE);
    to.double(value);
  } else return false;
  return true;
}

/** Up to its value, which has `size` bytes. */
function beginAttribute(to: WireBuffer, field: number, key: string, size: number): void {
  const keySize = sizeOfText(key);
  to.makeRoom(FIXED_ATTRIBUTE_BYTES + keySize + size);
  to.byte(field);
  to.varint(1 + sizeOfVarint(keySize) + keySize + 1 + sizeOfVarint(size) + size);
  to.byte(KEY);
  to.text(key, keySize);
  to.byte(VALUE);
  to.varint(size);
}

const nanosOf = ([seconds, nanos]: HrTime): bigint => BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
