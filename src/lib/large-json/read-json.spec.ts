import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longestJsonPiece } from '../../../test/helpers/json-pieces.ts';
import type { JsonValue } from '../json/json-value.ts';
import { withExactNumbers } from '../json/exact-json.ts';
import { atOnce } from '../concurrency/in-slices.ts';
import { LargeJsonError } from './limits.ts';
import { readLargeJson } from './read-json.ts';

const MIB = 1 << 20;
const LIMITS = { depth: 64, values: 3 * MIB, names: 20_000, numbers: 'text' } as const;

function read(bytes: Buffer, members: number, string: number): JsonValue | undefined {
  try {
    return atOnce(readLargeJson(bytes, LIMITS, { members, string }));
  } catch (error) {
    if (error instanceof LargeJsonError && error.reason === 'NOT_JSON') return undefined;
    throw error;
  }
}

function readWhole(bytes: Buffer): JsonValue | undefined {
  try {
    return JSON.parse(withExactNumbers(bytes.toString('utf8'))) as JsonValue;
  } catch {
    return undefined;
  }
}

const name = fc.oneof(fc.constantFrom('__proto__', 'a', '1', '0', '', 'é"\\'), fc.string({ maxLength: 6 }));
const scalar = fc.oneof(
  fc.constantFrom(
    '9007199254740993',
    '1e999',
    '-0',
    'true',
    'null',
    '1.50',
    '"\\ud83d\\ude00\\n"',
    '"\\ud800"',
  ),
  fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => JSON.stringify(text)),
  fc.integer().map(String),
);
const blank = fc.constantFrom('', '', ' ', '\n\t', '\r');
const { text: document } = fc.letrec<{ text: string }>((tie) => {
  const padded = fc.tuple(blank, tie('text'), blank).map((parts) => parts.join(''));
  const member = fc
    .tuple(blank, name, blank, padded)
    .map(([a, key, b, value]) => `${a}${JSON.stringify(key)}${b}:${value}`);
  return {
    text: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      scalar,
      fc.array(padded, { maxLength: 6 }).map((items) => `[${items.join(',')}]`),
      fc.array(member, { maxLength: 6 }).map((members) => `{${members.join(',')}}`),
    ),
  };
});
const sizes = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 80, max: 100 }));

describe('readLargeJson', () => {
  it('gives what one JSON.parse of the whole gives, wherever the text is cut', () => {
    fc.assert(
      fc.property(document, sizes, blank, (text, [members, string], around) => {
        const bytes = Buffer.from(around + text + around);
        expect(read(bytes, members, string)).toStrictEqual(readWhole(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('takes nothing that JSON.parse refuses, and refuses nothing that it takes', () => {
    const damage = fc.tuple(
      fc.nat(),
      fc.constantFrom('', ',', ']', '}', '[', '{', ':', '"', '\\', 'x', '1', '\u0001', '\ufeff'),
    );
    fc.assert(
      fc.property(
        document,
        sizes,
        fc.array(damage, { minLength: 1, maxLength: 2 }),
        (text, [members, string], damages) => {
          let damaged = text;
          for (const [where, put] of damages) {
            const at = where % (damaged.length + 1);
            damaged = damaged.slice(0, at) + put + damaged.slice(at + 1);
          }
          const bytes = Buffer.from(damaged);
          expect(read(bytes, members, string)).toStrictEqual(readWhole(bytes));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('replaces what is not UTF-8 as a decoder of the whole does', () => {
    const byte = fc.oneof(fc.integer({ min: 0x80, max: 0xff }), fc.constantFrom(0x61, 0x20));
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40 }),
        fc.array(byte, { maxLength: 300 }),
        sizes,
        (_, raw, [members, string]) => {
          const bytes = Buffer.concat([Buffer.from('["'), Buffer.from(raw), Buffer.from('",1]')]);
          expect(read(bytes, members, string)).toStrictEqual(readWhole(bytes));
        },
      ),
      { numRuns: 500 },
    );
  });

  const refused =
    (text: string, limits: object = {}) =>
    () =>
      atOnce(readLargeJson(Buffer.from(text), { ...LIMITS, ...limits }));

  it('refuses what is deeper, or has more values or more names in one object, than it may', () => {
    expect(refused('['.repeat(65))).toThrow('TOO_DEEP');
    expect(refused('['.repeat(64) + ']'.repeat(64))).not.toThrow();
    expect(refused('{"a":1,"b":2}', { names: 1 })).toThrow('TOO_MANY_NAMES');
    expect(refused('[1,[2]]', { values: 3 })).toThrow('TOO_MANY_VALUES');
    expect(refused('[1,[2]]', { values: 4 })).not.toThrow();
  });

  it('refuses a number that no double holds where it is asked to, and says which', () => {
    const found = expect.objectContaining({ reason: 'UNSAFE_NUMBER', found: '9007199254740993' });
    expect(refused('[1,9007199254740993]', { numbers: 'refuse' })).toThrow(found);
  });

  it.each([
    ['a name', `{"${'a'.repeat(MIB)}":1}`],
    ['a number', `[${'9'.repeat(MIB)}]`],
    ['a number that is all there is', '9'.repeat(MIB)],
    ['blanks', `[${' '.repeat(MIB)}]`],
  ])('refuses what cannot be read in pieces: %s', (_what, text) => {
    expect(refused(text)).toThrow('TOO_LONG');
  });

  it.each<[string, string]>([
    ['names', `{${Array.from({ length: 20_000 }, (_, at) => `"name ${at}":${at}`).join(',')}}`],
    ['empty objects', `[${'{},'.repeat(MIB / 4)}1]`],
    ['lists in lists', `[${`${'['.repeat(60)}${']'.repeat(60)},`.repeat(MIB / 80)}1]`],
    ['a long string of escapes', `["${'\\"'.repeat(MIB)}"]`],
    ['numbers', `[${'9007199254740993,'.repeat(MIB / 16)}1]`],
  ])('lets others run each hundred thousand characters: %s', (_what, text) => {
    expect(longestJsonPiece(readLargeJson(Buffer.from(text), LIMITS))).toBeLessThan(100_000);
  });
});
