// What stands in a message that nobody vouches for is read as protobuf has it, and no more of it than is bounded.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { BoundedFields, FieldsError } from './bounded-fields.ts';

const text = (number: number, value: string) =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).string(value).finish();
const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

it('reads the texts of one field in their order, and the last of its numbers, among others', () => {
  const count = (value: number) => new BinaryWriter().tag(1, WireType.Varint).int32(value).finish();
  const message = joined(text(1, 'a'), count(7), text(2, 'other'), text(1, 'b'), count(8));
  const fields = new BoundedFields();
  expect([fields.texts(message, 1), fields.text(message, 1), fields.text(message, 3)]).toEqual([
    ['a', 'b'],
    'a',
    '',
  ]);
  expect([fields.number(message, 1), fields.number(message, 2)]).toEqual([8, 0]);
});

it('counts over all that it is asked, and enters no group', () => {
  const many = joined(...Array.from({ length: 60_000 }, () => text(1, '')));
  const fields = new BoundedFields();
  expect(fields.bytes(many, 1)).toHaveLength(60_000);
  expect(() => fields.bytes(many, 2)).toThrow('it holds more than 100000 fields');
  expect(() => new BoundedFields().bytes(new Uint8Array([0x0b, 0x0c]), 1)).toThrow('it holds a group');
});

it('of any bytes at all gives fields or a FieldsError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const outcome = (() => {
        try {
          return new BoundedFields().bytes(bytes, 1);
        } catch (error) {
          return error;
        }
      })();
      expect(Array.isArray(outcome) || outcome instanceof FieldsError).toBe(true);
    }),
  );
});
