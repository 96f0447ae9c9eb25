// Rows in the binary format of COPY: whatever is written is read back from its bytes, also where the memory was too small.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copiedRows } from '../../../../test/helpers/copied-rows.ts';
import { BinaryRows } from './binary-rows.ts';

function columnOf(write: (rows: BinaryRows) => void, memory = Buffer.alloc(0)): Buffer | null {
  const rows = new BinaryRows(memory);
  rows.row(1);
  write(rows);
  const [[column] = [], ...more] = copiedRows(rows.complete());
  expect(more).toEqual([]);
  return column ?? null;
}

const text = fc.string({ unit: fc.constantFrom('a', '\0', '\\', '\n', 'é', '😀', 'z'.repeat(70)) });
const memory = fc.integer({ min: 0, max: 300 }).map((size) => Buffer.alloc(size, 0xab));

describe('a column', () => {
  it('of text is its UTF-8, of jsonb a version and its text', () => {
    fc.assert(
      fc.property(text, memory, (value, room) => {
        expect(columnOf((rows) => rows.text(value), room)?.toString()).toBe(value);
        expect(columnOf((rows) => rows.json(value), room)?.toString()).toBe(`\u0001${value}`);
      }),
    );
  });

  it('of a number is that number', () => {
    fc.assert(
      fc.property(fc.integer(), fc.maxSafeInteger(), fc.double(), (integer, long, double) => {
        expect(columnOf((rows) => rows.integer(integer))?.readInt32BE()).toBe(integer);
        expect(columnOf((rows) => rows.long(long))?.readBigInt64BE()).toBe(BigInt(long));
        expect(columnOf((rows) => rows.double(double))?.readDoubleBE()).toBe(double);
      }),
    );
  });

  it('of a time counts microseconds from the year 2000, of every time that Date knows', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        const us = columnOf((rows) => rows.time(date.getTime()))?.readBigInt64BE() ?? 0n;
        expect(new Date(Number(us / 1000n) + Date.UTC(2000)).toISOString()).toBe(date.toISOString());
      }),
    );
  });

  it('of bytes is what the digits say, in either case', () => {
    fc.assert(
      fc.property(fc.uint8Array(), memory, (bytes, room) => {
        const digits = Buffer.from(bytes).toString('hex');
        for (const written of [digits, digits.toUpperCase()])
          expect(columnOf((rows) => rows.hex(written), room)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('of a flag is one byte, and nothing is null', () => {
    expect(columnOf((rows) => rows.flag(true))).toEqual(Buffer.of(1));
    expect(columnOf((rows) => rows.flag(false))).toEqual(Buffer.of(0));
    expect(columnOf((rows) => rows.nothing())).toBeNull();
  });
});

it.each(['\ud83d', `${'long '.repeat(20)}\udc00`])(
  'text with half of a surrogate pair is refused',
  (half) => {
    expect(() => columnOf((rows) => rows.text(half))).toThrow(SyntaxError);
  },
);

it('digits that are there as bytes are in lower case', () => {
  expect(() => columnOf((rows) => rows.hexOf(Buffer.from('aB'), 0, 2))).toThrow(SyntaxError);
});

it.each(['a', 'abc', '0g', 'é0', '0\u{1d7d8}', '  ', '0x'])('%j are no hexadecimal digits', (digits) => {
  expect(() => columnOf((rows) => rows.hex(digits))).toThrow(SyntaxError);
  const bytes = Buffer.from(digits);
  expect(() => columnOf((rows) => rows.hexOf(bytes, 0, bytes.length))).toThrow(SyntaxError);
});

it('text and digits that are there as bytes are the same columns as those of strings', () => {
  fc.assert(
    fc.property(text, fc.uint8Array(), memory, (value, octets, room) => {
      const digits = Buffer.from(octets).toString('hex');
      const bytes = Buffer.from(`<${value}><${digits}>`);
      const behind = bytes.length - digits.length - 3;
      expect(columnOf((rows) => rows.utf8(bytes, 1, behind), room)?.toString()).toBe(value);
      expect(columnOf((rows) => rows.hexOf(bytes, behind + 2, bytes.length - 1), room)).toEqual(
        Buffer.from(octets),
      );
    }),
  );
});

it('the memory of rows before is written over, with what has grown', () => {
  const first = new BinaryRows(Buffer.alloc(4));
  first.row(1);
  first.text('x'.repeat(1_000));
  first.complete();
  const { memory: grown } = first;
  expect(grown.length).toBeGreaterThan(1_000);
  const second = new BinaryRows(grown);
  second.row(1);
  second.text('y');
  const rows = second.complete();
  expect(rows.buffer).toBe(grown.buffer);
  expect(copiedRows(rows)).toEqual([[Buffer.from('y')]]);
});

it('rows that are asked for in parts are the same rows, also where the memory grew between', () => {
  const texts = fc.array(fc.array(fc.string({ maxLength: 200 }), { maxLength: 4 }), { maxLength: 6 });
  fc.assert(
    fc.property(texts, (parts) => {
      const rows = new BinaryRows(Buffer.alloc(32));
      const given: Buffer[] = [];
      for (const part of parts) {
        for (const text of part) {
          rows.row(1);
          rows.text(text.toWellFormed());
        }
        given.push(rows.written());
      }
      given.push(rows.complete());
      const read = copiedRows(Buffer.concat(given)).flat().map(String);
      expect(read).toEqual(parts.flat().map((text) => text.toWellFormed()));
    }),
  );
});
