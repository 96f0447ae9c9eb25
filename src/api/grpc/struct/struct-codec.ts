// google.protobuf.Struct and Value to JSON and back, straight on the wire format: one pass, bounded depth.
import { isUtf8 } from 'node:buffer';
import protobuf from 'protobufjs';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { inSlices } from '../../../lib/concurrency/in-slices.ts';
import { isLargeJson } from '../../../lib/large-json/write-json.ts';
import {
  NULL_VALUE,
  NUMBER_VALUE,
  STRING_VALUE,
  BOOL_VALUE,
  STRUCT_VALUE,
  LIST_VALUE,
  FIELDS,
  ENTRY_KEY,
  ENTRY_VALUE,
  LIST_VALUES,
} from './struct-tags.ts';
import { StructWriter } from './struct-writer.ts';

const { Reader } = protobuf;

/** Levels of objects and arrays: many protobuf readers stop at 100 messages, and one level here is up to three. */
export const MAX_STRUCT_DEPTH = 32;

/** Reasons as in lib/strict-json.ts. */
export class StructError extends Error {
  readonly reason: 'TOO_DEEP' | 'SYNTAX' | 'DUPLICATE_KEY';

  constructor(reason: StructError['reason'], message: string) {
    super(message);
    this.name = 'StructError';
    this.reason = reason;
  }
}

/**
 * Reads a Struct. What JSON forbids (NaN, `__proto__` keys) is read as it is, `__proto__` as an own
 * property: the caller checks the value as it checks JSON text. Throws StructError.
 */
export function decodeStruct(bytes: Uint8Array): JsonObject {
  try {
    return readStruct(Reader.create(bytes), bytes.length, 1);
  } catch (error) {
    if (error instanceof StructError) throw error;
    throw malformed();
  }
}

export function encodeStruct(object: JsonObject): Uint8Array {
  const writer = new StructWriter(MAX_STRUCT_DEPTH, tooDeep);
  writer.fields(object, 1);
  return writer.finish();
}

export function encodeValue(value: JsonValue): Uint8Array {
  const writer = new StructWriter(MAX_STRUCT_DEPTH, tooDeep);
  writer.value(value, 1);
  return writer.finish();
}

/** What encodeValue gives: a large value is written in slices. */
export async function encodeValueInSlices(value: JsonValue): Promise<Uint8Array> {
  return isLargeJson(value) ? inSlices(writeLargeValue(value)) : encodeValue(value);
}

/** Yields after each piece. */
export function* writeLargeValue(value: JsonValue): Generator<void, Uint8Array> {
  const writer = new StructWriter(MAX_STRUCT_DEPTH, tooDeep);
  yield* writer.large(value, 1);
  return writer.finish();
}

function readStruct(reader: protobuf.Reader, end: number, depth: number): JsonObject {
  if (depth > MAX_STRUCT_DEPTH) throw tooDeep();
  const object: JsonObject = {};
  while (reader.pos < end) {
    if (isNext(reader, FIELDS)) readEntry(reader, endOfNext(reader, end), depth, object);
  }
  return object;
}

function readEntry(reader: protobuf.Reader, end: number, depth: number, object: JsonObject): void {
  let key = '';
  let value: JsonValue | undefined;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === ENTRY_KEY) key = readString(reader, end);
    else if (tag === ENTRY_VALUE) value = readValue(reader, endOfNext(reader, end), depth);
    else reader.skipType(tag & 7);
  }
  if (value === undefined) throw malformed();
  // Readers differ in which of two they keep: what one of them checked, another would run.
  if (Object.hasOwn(object, key)) throw new StructError('DUPLICATE_KEY', 'it has a key more than once');
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

function readList(reader: protobuf.Reader, end: number, depth: number): JsonValue[] {
  if (depth > MAX_STRUCT_DEPTH) throw tooDeep();
  const list: JsonValue[] = [];
  while (reader.pos < end) {
    if (isNext(reader, LIST_VALUES)) list.push(readValue(reader, endOfNext(reader, end), depth));
  }
  return list;
}

/** `depth` counts the objects and arrays around the value. */
function readValue(reader: protobuf.Reader, end: number, depth: number): JsonValue {
  let value: JsonValue | undefined;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === STRING_VALUE) value = readString(reader, end);
    else if (tag === NUMBER_VALUE) value = reader.double();
    else if (tag === BOOL_VALUE) value = reader.bool();
    else if (tag === STRUCT_VALUE) value = readStruct(reader, endOfNext(reader, end), depth + 1);
    else if (tag === LIST_VALUE) value = readList(reader, endOfNext(reader, end), depth + 1);
    else if (tag === NULL_VALUE) value = readNull(reader);
    else reader.skipType(tag & 7);
  }
  if (value === undefined || reader.pos !== end) throw malformed();
  return value;
}

function readNull(reader: protobuf.Reader): null {
  reader.int32();
  return null;
}

function readString(reader: protobuf.Reader, end: number): string {
  const start = reader.pos;
  const stringEnd = endOfNext(reader, end);
  reader.pos = start;
  const bytes = reader.bytes();
  if (reader.pos !== stringEnd) throw malformed();
  return textOf(bytes);
}

/** The library would put a sign of replacement for what is no text, and two different keys would be one. */
function textOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new StructError('SYNTAX', 'it has text that is not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Reads a tag; anything but the one expected is an unknown field, and skipped. */
function isNext(reader: protobuf.Reader, expected: number): boolean {
  const tag = reader.uint32();
  if (tag !== expected) reader.skipType(tag & 7);
  return tag === expected;
}

/** Reads a length; what it measures must lie inside what surrounds it. */
function endOfNext(reader: protobuf.Reader, outerEnd: number): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > outerEnd) throw malformed();
  return end;
}

function tooDeep(): StructError {
  return new StructError('TOO_DEEP', `it is nested deeper than ${MAX_STRUCT_DEPTH} levels`);
}

function malformed(): StructError {
  return new StructError('SYNTAX', 'this is not a google.protobuf.Struct');
}
