// From a message on the wire to its JSON, in one pass and in slices: bounded in depth, values and names, whoever sent it.
import { ScalarType, type DescField, type DescMessage, type Registry } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { MOST_LEVELS } from '../../json/json-bounds.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { defaultsOf, fieldsOf, one, single, tagBytes } from './field-values.ts';
import { MessageBounds } from './message-bounds.ts';
import { MessageError } from './message-error.ts';
import { emptyOf, enumName, readScalar, wireTypeOf, type Scalar } from './scalar-json.ts';
import { isUnwrapped, TEXTS, textOf, wellKnown, WKT } from './well-known.ts';

type Decoding<Result> = Generator<void, Result>;

export interface DecodeOptions {
  /** Those that an Any may hold. */
  readonly types: Registry;
  /** Whether numbers, texts and the like that are 0, "" or false are told, which do not stand on the wire. */
  readonly defaults: boolean;
  /** Shared by the messages of one answer; each is bounded by itself where there are none. */
  readonly bounds?: MessageBounds;
}

/** Throws MessageError. Gives way after some hundreds of values, and begins by reading. */
export function* decodeMessage(
  desc: DescMessage,
  bytes: Uint8Array,
  options: DecodeOptions,
): Decoding<JsonValue> {
  try {
    return yield* new Decoder(options).message(desc, bytes, 0);
  } catch (error) {
    if (error instanceof MessageError) throw error;
    throw new MessageError('INVALID', `The message is no ${desc.typeName}.`, { cause: error });
  }
}

class Decoder {
  readonly options: DecodeOptions;
  readonly bounds: MessageBounds;

  constructor(options: DecodeOptions) {
    this.options = options;
    this.bounds = options.bounds ?? new MessageBounds();
  }

  *message(desc: DescMessage, bytes: Uint8Array, level: number): Decoding<JsonValue> {
    if (level > MOST_LEVELS)
      throw new MessageError('TOO_DEEP', `The message is nested deeper than ${MOST_LEVELS} levels.`);
    const schema = TEXTS.get(desc.typeName);
    // The library reads it at once, whatever it holds: so it counts by its length.
    if (this.bounds.count(schema === undefined ? 1 : 1 + (bytes.length >>> 4))) yield;
    if (schema !== undefined) return textOf(schema, bytes);
    if (desc.typeName === `${WKT}Any`) return yield* this.#any(bytes, level);
    const members = yield* new Members(this, desc, level).read(bytes);
    return desc.typeName.startsWith(WKT) ? wellKnown(desc, members) : members;
  }

  *#any(bytes: Uint8Array, level: number): Decoding<JsonValue> {
    const reader = new BinaryReader(bytes);
    let url = '';
    let value: Uint8Array = new Uint8Array();
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      if (number === 1 && wireType === WireType.LengthDelimited) url = reader.string();
      else if (number === 2 && wireType === WireType.LengthDelimited) value = reader.bytes();
      else yield* this.bounds.skip(reader, wireType, number);
      if (this.bounds.count()) yield;
    }
    if (url === '') return {};
    const desc = this.options.types.getMessage(url.slice(url.lastIndexOf('/') + 1));
    // What nobody here knows is passed on as it came.
    if (desc === undefined) return { '@type': url, value: Buffer.from(value).toString('base64') };
    const inner = yield* this.message(desc, value, level + 1);
    const isOwn = desc.typeName.startsWith(WKT) && desc.typeName !== `${WKT}Empty`;
    if (isOwn || typeof inner !== 'object' || inner === null || Array.isArray(inner))
      return { '@type': url, value: inner };
    return { '@type': url, ...inner };
  }
}

/** The fields of one message, as they come. */
class Members {
  readonly #decoder: Decoder;
  readonly #desc: DescMessage;
  /** Of what stands in a field, and of what stands in a list or a map there. */
  readonly #level: number;
  readonly #inner: number;
  readonly #found = new Map<number, JsonValue>();
  /** Of a message that came in parts, which are one when they are read one after the other. */
  readonly #parts = new Map<number, Uint8Array[]>();
  readonly #maps = new Map<number, Map<string, JsonValue>>();
  #bytes: Uint8Array = new Uint8Array();

  constructor(decoder: Decoder, desc: DescMessage, level: number) {
    this.#decoder = decoder;
    this.#desc = desc;
    this.#level = desc.typeName === `${WKT}Value` ? level : level + 1;
    this.#inner = isUnwrapped(desc) ? this.#level : this.#level + 1;
  }

  *read(bytes: Uint8Array): Decoding<JsonObject> {
    const { bounds, options } = this.#decoder;
    const fields = fieldsOf(this.#desc);
    this.#bytes = bytes;
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      const field = fields.get(number);
      if (field === undefined || !(yield* this.#field(field, wireType, reader)))
        yield* bounds.skip(reader, wireType, number);
      if (bounds.count()) yield;
    }
    for (const [number, parts] of this.#parts) {
      const message = fields.get(number)?.message;
      const [first = new Uint8Array()] = parts;
      const whole = parts.length === 1 ? first : Buffer.concat(parts);
      if (message !== undefined)
        this.#found.set(number, yield* this.#decoder.message(message, whole, this.#level));
    }
    for (const [number, members] of this.#maps) this.#found.set(number, Object.fromEntries(members));
    if (options.defaults && bounds.count(this.#addDefaults())) yield;
    return Object.fromEntries(
      [...this.#found].map(([number, value]) => [fields.get(number)?.jsonName ?? '', value]),
    );
  }

  /** Gives how many there are. */
  #addDefaults(): number {
    const before = this.#found.size;
    for (const [number, value] of defaultsOf(this.#desc))
      if (!this.#found.has(number)) this.#found.set(number, value);
    return this.#found.size - before;
  }

  /** Of a message in the message. Undefined: it does not stand as such a field does. */
  *#inside(field: DescField, wireType: WireType, reader: BinaryReader): Decoding<Uint8Array | undefined> {
    if (wireType === WireType.LengthDelimited) return reader.bytes();
    if (wireType !== WireType.StartGroup) return undefined;
    const from = reader.pos;
    yield* this.#decoder.bounds.skip(reader, wireType, field.number);
    // Its end is a tag, as long as the one that it began with.
    return this.#bytes.subarray(from, reader.pos - tagBytes(field));
  }

  /** False: it does not stand as such a field does. */
  *#field(field: DescField, wireType: WireType, reader: BinaryReader): Decoding<boolean> {
    if (field.oneof !== undefined) this.#clear(field);
    if (field.fieldKind === 'map') return yield* this.#entry(field, wireType, reader);
    if (field.fieldKind === 'list') return yield* this.#item(field, wireType, reader);
    if (field.fieldKind === 'message') {
      const bytes = yield* this.#inside(field, wireType, reader);
      if (bytes === undefined) return false;
      const parts = this.#parts.get(field.number) ?? [];
      parts.push(bytes);
      this.#parts.set(field.number, parts);
      // It keeps its place among the others.
      this.#found.set(field.number, null);
      return true;
    }
    const value = single(field, wireType, reader);
    if (value === undefined) return false;
    this.#found.set(field.number, value);
    return true;
  }

  *#item(
    field: DescField & { fieldKind: 'list' },
    wireType: WireType,
    reader: BinaryReader,
  ): Decoding<boolean> {
    const list = (this.#found.get(field.number) ?? []) as JsonValue[];
    if (field.listKind === 'message') {
      const bytes = yield* this.#inside(field, wireType, reader);
      if (bytes === undefined) return false;
      list.push(yield* this.#decoder.message(field.message, bytes, this.#inner));
    } else {
      const type = field.listKind === 'enum' ? ScalarType.INT32 : field.scalar;
      const own = wireTypeOf(type);
      if (wireType !== own && wireType !== WireType.LengthDelimited) return false;
      const end = wireType === own ? reader.pos + 1 : reader.uint32() + reader.pos;
      if (wireType !== own && end > reader.len)
        throw new RangeError('a packed list is longer than its message');
      while (reader.pos < end) {
        list.push(one(field, type, reader));
        if (this.#decoder.bounds.count()) yield;
      }
    }
    this.#found.set(field.number, list);
    return true;
  }

  *#entry(
    field: DescField & { fieldKind: 'map' },
    wireType: WireType,
    reader: BinaryReader,
  ): Decoding<boolean> {
    if (wireType !== WireType.LengthDelimited) return false;
    const { bounds } = this.#decoder;
    const entry = new BinaryReader(reader.bytes());
    let key: Scalar | undefined;
    let value: JsonValue | undefined;
    let parts: Uint8Array = new Uint8Array();
    while (entry.pos < entry.len) {
      const [number, type] = entry.tag();
      if (number === 1 && type === wireTypeOf(field.mapKey)) key = readScalar(entry, field.mapKey);
      else if (number === 2 && field.mapKind === 'message' && type === WireType.LengthDelimited)
        parts = entry.bytes();
      else if (number === 2 && field.mapKind !== 'message')
        value = single(field, type, entry) ?? (yield* bounds.skip(entry, type, number), undefined);
      else yield* bounds.skip(entry, type, number);
      if (bounds.count()) yield;
    }
    const members = this.#maps.get(field.number) ?? new Map<string, JsonValue>();
    this.#maps.set(field.number, members);
    this.#found.set(field.number, null);
    const name = bounds.name(String(key ?? emptyOf(field.mapKey)));
    if (field.mapKind === 'message')
      members.set(name, yield* this.#decoder.message(field.message, parts, this.#inner));
    else
      members.set(
        name,
        value ?? (field.mapKind === 'enum' ? enumName(field.enum, 0) : emptyOf(field.scalar)),
      );
    return true;
  }

  /** Of those that are told apart, the last one that came is meant. */
  #clear(field: DescField): void {
    for (const { number } of field.oneof?.fields ?? []) {
      if (number === field.number) continue;
      this.#found.delete(number);
      this.#parts.delete(number);
    }
  }
}
