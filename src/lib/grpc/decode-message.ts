// From a message on the wire to its JSON, in one pass and in slices: bounded in depth, values and names, whoever sent it.
import { ScalarType, type DescField, type DescMessage, type Registry } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { MOST_LEVELS, MOST_NAMES, MOST_VALUES } from '../json/json-bounds.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { MessageError } from './message-error.ts';
import { bytesOf, defaultsOf, fieldsOf, MOST_UNKNOWN_LEVELS, one, single } from './field-values.ts';
import { emptyOf, enumName, readScalar, wireTypeOf, type Scalar } from './scalar-json.ts';
import { isUnwrapped, TEXTS, textOf, wellKnown, WKT } from './well-known.ts';

/** Values that are read in one go. */
const SLICE = 500;

type Decoding<Result> = Generator<void, Result>;

export interface DecodeOptions {
  /** Those that an Any may hold. */
  readonly types: Registry;
  /** Whether numbers, texts and the like that are 0, "" or false are told, which do not stand on the wire. */
  readonly defaults: boolean;
}

/** Throws MessageError. */
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
  readonly #names = new Set<string>();
  #values = 0;
  #pause = SLICE;

  constructor(options: DecodeOptions) {
    this.options = options;
  }

  *message(desc: DescMessage, bytes: Uint8Array, level: number): Decoding<JsonValue> {
    if (level > MOST_LEVELS)
      throw new MessageError('TOO_DEEP', `The message is nested deeper than ${MOST_LEVELS} levels.`);
    yield* this.#count();
    const schema = TEXTS.get(desc.typeName);
    if (schema !== undefined) return textOf(schema, bytes);
    if (desc.typeName === `${WKT}Any`) return yield* this.#any(bytes, level);
    const members = yield* new Members(this, desc, level).read(bytes);
    return desc.typeName.startsWith(WKT) ? wellKnown(desc, members) : members;
  }

  *value(): Decoding<void> {
    yield* this.#count();
  }

  name(text: string): string {
    this.#names.add(text);
    if (this.#names.size > MOST_NAMES)
      throw new MessageError('TOO_MANY_NAMES', `The message holds more than ${MOST_NAMES} different names.`);
    return text;
  }

  *#any(bytes: Uint8Array, level: number): Decoding<JsonValue> {
    const reader = new BinaryReader(bytes);
    let url = '';
    let value: Uint8Array = new Uint8Array();
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      if (number === 1 && wireType === WireType.LengthDelimited) url = reader.string();
      else if (number === 2 && wireType === WireType.LengthDelimited) value = reader.bytes();
      else reader.skip(wireType, number, MOST_UNKNOWN_LEVELS);
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

  *#count(): Decoding<void> {
    this.#values += 1;
    if (this.#values > MOST_VALUES)
      throw new MessageError('TOO_MANY_VALUES', `The message holds more than ${MOST_VALUES} values.`);
    if (this.#values < this.#pause) return;
    this.#pause = this.#values + SLICE;
    yield;
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

  constructor(decoder: Decoder, desc: DescMessage, level: number) {
    this.#decoder = decoder;
    this.#desc = desc;
    this.#level = desc.typeName === `${WKT}Value` ? level : level + 1;
    this.#inner = isUnwrapped(desc) ? this.#level : this.#level + 1;
  }

  *read(bytes: Uint8Array): Decoding<JsonObject> {
    const fields = fieldsOf(this.#desc);
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      const field = fields.get(number);
      if (field === undefined || !(yield* this.#field(field, wireType, reader)))
        reader.skip(wireType, number, MOST_UNKNOWN_LEVELS);
      yield* this.#decoder.value();
    }
    for (const [number, parts] of this.#parts) {
      const message = fields.get(number)?.message;
      const [first = new Uint8Array()] = parts;
      const whole = parts.length === 1 ? first : Buffer.concat(parts);
      if (message !== undefined)
        this.#found.set(number, yield* this.#decoder.message(message, whole, this.#level));
    }
    for (const [number, members] of this.#maps) this.#found.set(number, Object.fromEntries(members));
    if (this.#decoder.options.defaults) yield* this.#defaults();
    return Object.fromEntries(
      [...this.#found].map(([number, value]) => [fields.get(number)?.jsonName ?? '', value]),
    );
  }

  *#defaults(): Decoding<void> {
    for (const [number, value] of defaultsOf(this.#desc)) {
      if (this.#found.has(number)) continue;
      this.#found.set(number, value);
      yield* this.#decoder.value();
    }
  }

  /** False: it does not stand as such a field does. */
  *#field(field: DescField, wireType: WireType, reader: BinaryReader): Decoding<boolean> {
    if (field.oneof !== undefined) this.#clear(field);
    if (field.fieldKind === 'map') return yield* this.#entry(field, wireType, reader);
    if (field.fieldKind === 'list') return yield* this.#item(field, wireType, reader);
    if (field.fieldKind === 'message') {
      const bytes = bytesOf(field, wireType, reader);
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
      const bytes = bytesOf(field, wireType, reader);
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
        yield* this.#decoder.value();
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
        value = single(field, type, entry) ?? (entry.skip(type, number), undefined);
      else entry.skip(type, number, MOST_UNKNOWN_LEVELS);
    }
    const members = this.#maps.get(field.number) ?? new Map<string, JsonValue>();
    this.#maps.set(field.number, members);
    this.#found.set(field.number, null);
    const name = this.#decoder.name(String(key ?? emptyOf(field.mapKey)));
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
