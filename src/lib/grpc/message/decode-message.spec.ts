// Messages from the wire: what a well-kept library reads, and nothing that an upstream might do with them.
import {
  fromJson,
  toBinary,
  toJson,
  type DescMessage,
  type JsonObject as MessageJson,
} from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import * as fc from 'fast-check';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KITCHEN } from '../../../../test/helpers/grpc-upstream.ts';
import { atOnce } from '../../concurrency/in-slices.ts';
import { compileProtos } from '../compile-protos.ts';
import { decodeMessage } from './decode-message.ts';
import { openDescriptors } from '../descriptor-set.ts';
import { encodeMessage } from './encode-message.ts';
import { MessageBounds } from './message-bounds.ts';

const types = openDescriptors(compileProtos([KITCHEN], [dirname(KITCHEN)]).files);
const messageOf = (name: string): DescMessage =>
  types.getMessage(`kitchen.v1.${name}`) ?? expect.unreachable(name);
const EVERYTHING = messageOf('Everything');
const decoded = (bytes: Uint8Array, desc = EVERYTHING, defaults = false) =>
  atOnce(decodeMessage(desc, bytes, { types, defaults }));

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const colour = fc.constantFrom('COLOUR_UNSPECIFIED', 'COLOUR_RED', 'COLOUR_BLUE');
const base64 = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const number = fc.record({ value: int64 }, { requiredKeys: [] });

const { everything } = fc.letrec<{ everything: object }>((tie) => ({
  everything: fc.record(
    {
      name: text,
      small: int32,
      big: int64,
      huge: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
      real: fc.oneof(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom('NaN', 'Infinity', '-Infinity'),
      ),
      single: fc.float({ noNaN: true, noDefaultInfinity: true }),
      yes: fc.boolean(),
      raw: base64,
      colour,
      numbers: fc.array(int32, { maxLength: 5 }),
      children: fc.array(tie('everything'), { maxLength: 2 }),
      named: fc.dictionary(text, number, { maxKeys: 3 }),
      byNumber: fc.dictionary(int32.map(String), text, { maxKeys: 3 }),
      byBool: fc.dictionary(fc.constantFrom('true', 'false'), colour),
      text,
      maybe: text,
      at: fc
        .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
        .map((date) => date.toISOString()),
      lasts: fc.integer({ min: -1e6, max: 1e6 }).map((seconds) => `${seconds}s`),
      free: fc.dictionary(
        text,
        fc.jsonValue({ maxDepth: 2, noUnicodeString: false }) as fc.Arbitrary<unknown>,
      ),
      anyValue: fc.jsonValue({ maxDepth: 2 }),
      list: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
      detail: number.map((inner) => ({ '@type': 'type.googleapis.com/kitchen.v1.Number', ...inner })),
      wrapped: int64,
      wrappedText: text,
      nothing: fc.constant({}),
      zigzag: int64,
      fixed: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
      palette: fc.array(colour, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  ),
}));

/** Integers of 64 bits are numbers here where a double holds them, and a float has the digits that it was written with. */
function normal(value: unknown): unknown {
  if (typeof value === 'number') return Math.fround(value);
  if (
    typeof value === 'string' &&
    /^-?\d{1,20}$/.test(value) &&
    String(Number(value)) === value &&
    Number.isSafeInteger(Number(value))
  )
    return Math.fround(Number(value));
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, normal(each)]));
}
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

describe('a message', () => {
  it('is read as the library reads it, whatever it holds', () => {
    fc.assert(
      fc.property(everything, (json) => {
        const message = fromJson(EVERYTHING, json as MessageJson, { registry: types });
        const bytes = toBinary(EVERYTHING, message);
        const expected = toJson(EVERYTHING, message, { registry: types });
        expect(sorted(normal(decoded(bytes)))).toBe(sorted(normal(expected)));
      }),
    );
  });

  it('comes back as it was sent', () => {
    fc.assert(
      fc.property(everything, (json) => {
        const once = decoded(encodeMessage(EVERYTHING, json as MessageJson, types));
        expect(sorted(decoded(encodeMessage(EVERYTHING, once, types)))).toBe(sorted(once));
      }),
    );
  });

  it('of any bytes at all is a value or a MessageError, and nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const outcome = (() => {
          try {
            return JSON.stringify(decoded(bytes));
          } catch (error) {
            return (error as Error).name;
          }
        })();
        expect(outcome).toMatch(/^(?:\{|MessageError)/);
      }),
      { numRuns: 500 },
    );
  });

  it('in parts is one: fields of both, the last of a oneof, lists one behind the other', () => {
    const part = (json: MessageJson) => toBinary(EVERYTHING, fromJson(EVERYTHING, json));
    const inner = (json: MessageJson) =>
      new BinaryWriter()
        .tag(32, WireType.LengthDelimited)
        .bytes(toBinary(messageOf('Everything.Inner'), fromJson(messageOf('Everything.Inner'), json)))
        .finish();
    const bytes = Buffer.concat([
      part({ text: 'a', numbers: [1, 2] }),
      inner({ deep: 'd' }),
      part({ number: { value: '7' }, numbers: [3] }),
      inner({ kind: 'FANCY' }),
    ]);
    expect(decoded(bytes)).toEqual({
      numbers: [1, 2, 3],
      number: { value: 7 },
      inner: { deep: 'd', kind: 'FANCY' },
    });
  });

  it('tells what is 0, empty or false, where that is wanted', () => {
    expect(decoded(new Uint8Array(), messageOf('Said'), true)).toEqual({ text: '' });
    expect(decoded(new Uint8Array(), messageOf('Number'), true)).toEqual({ value: 0 });
  });

  it('may have names that are traps in JavaScript', () => {
    const bytes = toBinary(
      EVERYTHING,
      fromJson(
        EVERYTHING,
        JSON.parse('{"named":{"__proto__":{"value":"1"},"constructor":{}}}') as MessageJson,
      ),
    );
    const { named } = decoded(bytes) as { named: object };
    expect(Object.getPrototypeOf(named)).toBe(Object.prototype);
    expect(Object.keys(named).toSorted()).toEqual(['__proto__', 'constructor']);
  });
});

const inField = (number: number, bytes: Uint8Array) =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
/** Fields without a length. */
const empties = (number: number, count: number) => {
  const one = inField(number, new Uint8Array());
  return new Uint8Array(Buffer.alloc(one.length * count, one));
};
const grouped = (number: number, bytes: Uint8Array) =>
  joined(
    new BinaryWriter().tag(number, WireType.StartGroup).finish(),
    bytes,
    new BinaryWriter().tag(number, WireType.EndGroup).finish(),
  );

describe('a hostile message', () => {
  it('that is nested without end is refused', () => {
    let bytes: Uint8Array = new Uint8Array();
    for (let level = 0; level < 2_000; level += 1)
      bytes = new BinaryWriter().tag(11, WireType.LengthDelimited).bytes(bytes).finish();
    expect(() => decoded(bytes)).toThrow('nested deeper than 64 levels');
  });

  it('whose Struct is nested without end is refused', () => {
    const tag = (field: number, bytes: Uint8Array) =>
      new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
    let value: Uint8Array = new Uint8Array();
    for (let level = 0; level < 500; level += 1) value = tag(6, tag(1, value));
    expect(() => decoded(tag(21, value))).toThrow('nested deeper than 64 levels');
  });

  it('of more values than anybody reads is refused, however few bytes each takes', () => {
    const bytes = new BinaryWriter()
      .tag(10, WireType.LengthDelimited)
      .bytes(new Uint8Array(300_000))
      .finish();
    expect(() => decoded(bytes)).toThrow('more than 200000 values');
  });

  it('of more names than anybody reads is refused', () => {
    const writer = new BinaryWriter();
    for (let n = 0; n < 20_001; n += 1)
      writer.tag(13, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int32(n).join();
    expect(() => decoded(writer.finish())).toThrow('more than 20000 different names');
  });

  it.each<[string, (count: number) => Uint8Array]>([
    ['of a packed list', (count) => inField(10, new Uint8Array(count))],
    ['that nobody knows', (count) => empties(900, count)],
    ['in a group that nobody knows', (count) => grouped(900, empties(1, count))],
    ['in groups of groups', (count) => grouped(900, grouped(901, empties(1, count)))],
    ['in an Any', (count) => inField(23, empties(2, count))],
    ['of one entry of a map', (count) => inField(12, empties(2, count))],
    ['that an entry does not have', (count) => inField(12, empties(3, count))],
  ])('gives way while it is read, and is refused where there are too many fields %s', (_where, of) => {
    let turns = 0;
    for (
      const work = decodeMessage(EVERYTHING, of(100_000), { types, defaults: false });
      work.next().done !== true;
    )
      turns += 1;
    expect(turns).toBeGreaterThan(100);
    expect(() => decoded(of(300_000))).toThrow('more than 200000 values');
  });

  it('that ends a group which has not begun is refused', () => {
    expect(() => decoded(joined(empties(1, 0), new Uint8Array([0x0b, 0x14])))).toThrow('The message is no');
  });

  it('that holds a text longer than any is refused', () => {
    const mask = messageOf('Everything').fields.find(
      ({ message }) => message?.typeName === 'google.protobuf.Timestamp',
    );
    expect(() => decoded(inField(mask?.number ?? 0, empties(900, 40_000)))).toThrow(
      'a google.protobuf.Timestamp of more than 65536 bytes',
    );
  });

  it('is bounded together with those that came before it', () => {
    const bounds = new MessageBounds();
    const read = (count: number) =>
      atOnce(
        decodeMessage(EVERYTHING, inField(10, new Uint8Array(count)), { types, defaults: false, bounds }),
      );
    read(150_000);
    expect(() => read(60_000)).toThrow('more than 200000 values');
  });
});

it('an Any of a type that nobody knows is passed on as it came', () => {
  const inner = new BinaryWriter().tag(1, WireType.LengthDelimited).string('x/unknown.Type');
  const any = inner
    .tag(2, WireType.LengthDelimited)
    .bytes(new Uint8Array([1, 2]))
    .finish();
  const bytes = new BinaryWriter().tag(23, WireType.LengthDelimited).bytes(any).finish();
  expect(decoded(bytes)).toEqual({ detail: { '@type': 'x/unknown.Type', value: 'AQI=' } });
});
