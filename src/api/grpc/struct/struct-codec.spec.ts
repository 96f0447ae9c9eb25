// Struct codec: what JSON holds survives the wire, other protobuf implementations agree, and hostile bytes are refused.
import * as fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { atOnce } from '../../../lib/concurrency/in-slices.ts';
import {
  decodeStruct,
  encodeStruct,
  encodeValue,
  MAX_STRUCT_DEPTH,
  StructError,
  writeLargeValue,
} from './struct-codec.ts';

const common = protobuf.Root.fromJSON(protobuf.common.get('google/protobuf/struct.proto') ?? {});
const StructType = common.lookupType('google.protobuf.Struct');
const ValueType = common.lookupType('google.protobuf.Value');

const json = fc.jsonValue({ maxDepth: 8 }) as fc.Arbitrary<JsonValue>;
const object = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  json,
  { noNullPrototype: true },
) as fc.Arbitrary<JsonObject>;

/** The generic form that protobufjs makes of a Struct. */
interface GenericValue {
  readonly nullValue?: number;
  readonly numberValue?: number;
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly structValue?: { readonly fields?: Record<string, GenericValue> };
  readonly listValue?: { readonly values?: GenericValue[] };
}

function toGeneric(value: JsonValue): GenericValue {
  if (value === null) return { nullValue: 0 };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(toGeneric) } };
  return { structValue: { fields: fieldsOf(value) } };
}

function fieldsOf(value: JsonObject): Record<string, GenericValue> {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toGeneric(inner)]));
}

function nested(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

function outcomeOf(bytes: Uint8Array): unknown {
  try {
    return decodeStruct(bytes);
  } catch (error) {
    return error;
  }
}

function isObjectOrStructError(outcome: unknown): boolean {
  return outcome instanceof StructError || (typeof outcome === 'object' && !(outcome instanceof Error));
}

describe('struct codec', () => {
  it('brings every JSON object back as it was', () => {
    fc.assert(
      fc.property(object, (value) => {
        expect(decodeStruct(encodeStruct(value))).toEqual(value);
      }),
    );
  });

  it('reads what another protobuf implementation writes', () => {
    fc.assert(
      fc.property(object, (value) => {
        const theirs = StructType.encode(StructType.fromObject({ fields: fieldsOf(value) })).finish();
        expect(decodeStruct(theirs)).toEqual(value);
      }),
    );
  });

  it('writes what another protobuf implementation reads', () => {
    fc.assert(
      fc.property(json, (value) => {
        const theirs = ValueType.decode(encodeValue(value));
        const expected = ValueType.decode(ValueType.encode(ValueType.fromObject(toGeneric(value))).finish());
        expect(ValueType.toObject(theirs)).toEqual(ValueType.toObject(expected));
      }),
    );
  });

  it('answers any bytes with an object or a StructError, never with anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(outcomeOf(bytes)).toSatisfy(isObjectOrStructError);
      }),
      { numRuns: 2000 },
    );
  });

  it('answers a damaged struct with an object or a StructError', () => {
    fc.assert(
      fc.property(object, fc.nat(), fc.nat(255), (value, at, byte) => {
        const bytes = Uint8Array.from(encodeStruct({ ...value, last: 'x' }));
        bytes[at % bytes.length] = byte;
        expect(outcomeOf(bytes)).toSatisfy(isObjectOrStructError);
      }),
    );
  });

  it('reads and writes the deepest value allowed and refuses one level more', () => {
    const deepest = nested(MAX_STRUCT_DEPTH);
    expect(decodeStruct(encodeStruct(deepest))).toEqual(deepest);
    expect(() => encodeStruct(nested(MAX_STRUCT_DEPTH + 1))).toThrow(
      expect.objectContaining({ reason: 'TOO_DEEP' }),
    );
    expect(() => decodeStruct(deepBytes(MAX_STRUCT_DEPTH + 1))).toThrow(
      expect.objectContaining({ reason: 'TOO_DEEP' }),
    );
  });

  it('refuses a nesting bomb of 100,000 levels without running out of stack', () => {
    expect(() => decodeStruct(deepBytes(100_000))).toThrow(StructError);
    let list: JsonValue[] = [];
    for (let level = 0; level < 100_000; level += 1) list = [list];
    expect(() => encodeValue(list)).toThrow(expect.objectContaining({ reason: 'TOO_DEEP' }));
  });

  it('keeps a __proto__ key as an own property, so that it can be refused and pollutes nothing', () => {
    const inner = StructType.encode({ fields: { polluted: { boolValue: true } } }).finish();
    const entry = protobuf.Writer.create().uint32(0x0a).string('__proto__').uint32(0x12).fork();
    entry.uint32(0x2a).bytes(inner).ldelim();
    const value = decodeStruct(protobuf.Writer.create().uint32(0x0a).bytes(entry.finish()).finish());
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value['polluted']).toBeUndefined();
    expect(({} as JsonObject)['polluted']).toBeUndefined();
  });

  it('refuses a value without a kind, and a string that claims to be longer than the message', () => {
    const kindless = protobuf.Writer.create()
      .uint32(0x0a)
      .fork()
      .uint32(0x0a)
      .string('a')
      .uint32(0x12)
      .fork()
      .ldelim();
    expect(() => decodeStruct(kindless.ldelim().finish())).toThrow(StructError);
    expect(() => decodeStruct(Uint8Array.from([0x0a, 0x04, 0x0a, 0x7f, 0x61, 0x61]))).toThrow(StructError);
  });

  it('skips fields it does not know', () => {
    const known = encodeStruct({ a: 1 });
    const unknown = protobuf.Writer.create().uint32(0x52).string('later').finish();
    expect(decodeStruct(Buffer.concat([unknown, known]))).toEqual({ a: 1 });
  });

  it('leaves out what is undefined', () => {
    const value = { a: undefined, b: 1 } as unknown as JsonObject;
    expect(decodeStruct(encodeStruct(value))).toEqual({ b: 1 });
  });
});

describe('a large value', () => {
  it('is written as it is when written at once', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(json, fc.nat(9_000))), (items) => {
        const value = items.map(([item, times]) => ({ item, far: 'f'.repeat(times), many: [item, times] }));
        expect(Buffer.from(atOnce(writeLargeValue(value))).equals(encodeValue(value))).toBe(true);
        expect(Buffer.from(atOnce(writeLargeValue({ value }))).equals(encodeValue({ value }))).toBe(true);
      }),
    );
  });

  it('of too many levels is refused', () => {
    const wide = Array.from({ length: 5_000 }, () => nested(MAX_STRUCT_DEPTH));
    expect(() => atOnce(writeLargeValue(wide))).toThrow(expect.objectContaining({ reason: 'TOO_DEEP' }));
  });

  it.each<[string, number, JsonValue]>([
    ['small objects', 99_000, Array.from({ length: 99_000 }, (_, at) => ({ a: at }))],
    ['lists', 99_000, Array.from({ length: 99_000 }, (_, at) => [at])],
    ['short texts', 199_000, Array.from({ length: 199_000 }, (_, at) => `é${at}`)],
    ['numbers', 199_000, Array.from({ length: 199_000 }, (_, at) => at / 7)],
    ['names', 20_000, Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`name ${at}`, at]))],
    [
      'objects in objects',
      40_000,
      Array.from({ length: 200 }, () => ({ a: { b: Array.from({ length: 200 }, () => 1) } })),
    ],
  ])('lets others run each few thousand values: %s', (_what, count, value) => {
    const turns = [...writeLargeValue(value)].length;
    expect(turns).toBeGreaterThan(count / 4_200);
  });
});

describe('a text', () => {
  it('of any length and any characters arrives as it is; half a character as the sign of replacement', () => {
    for (const character of ['a', 'é', '漢', '😀']) {
      for (const length of [0, 1, 23, 24, 25, 127, 128, 16_383, 16_384, 70_000]) {
        const text = character.repeat(length);
        expect(decodeStruct(encodeStruct({ [text]: [text] }))).toEqual({ [text]: [text] });
      }
    }
    for (const half of ['\ud800', '\udc00']) {
      for (const rest of ['', 'y', 'y'.repeat(30)]) {
        const text = `${half}${rest}😀${half}`;
        expect(decodeStruct(encodeStruct({ a: text }))).toEqual({ a: text.toWellFormed() });
      }
    }
  });
});

/** `{a: {a: …}}` on the wire, whatever the depth. */
function deepBytes(levels: number): Uint8Array {
  const parts: Buffer[] = [];
  let length = 0;
  for (let level = 1; level < levels; level += 1) {
    // Built from the inside: value{struct} ← entry{key,value} ← fields, each a header in front of what is there.
    const struct = Buffer.concat([Buffer.from([0x2a]), varint(length)]);
    const value = Buffer.concat([Buffer.from([0x0a, 0x01, 0x61, 0x12]), varint(length + struct.length)]);
    const entry = Buffer.concat([Buffer.from([0x0a]), varint(length + struct.length + value.length)]);
    parts.push(struct, value, entry);
    length += struct.length + value.length + entry.length;
  }
  return Buffer.concat(parts.toReversed());
}

function varint(value: number): Buffer {
  return Buffer.from(protobuf.Writer.create().uint32(value).finish());
}
