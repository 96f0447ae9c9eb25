import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longestJsonPiece } from '../../../test/helpers/json-pieces.ts';
import type { JsonValue } from '../json/json-value.ts';
import { atOnce } from '../concurrency/in-slices.ts';
import { writeLargeJson } from './write-json.ts';

const MIB = 1 << 20;
const far = (text: string) => text.repeat(9_000);

describe('writeLargeJson', () => {
  it('writes what JSON.stringify writes', () => {
    const unit = fc.constantFrom('a', '"', '\\', '\n', 'é', '😀', '\ud83d', '\ude00', '\u0000');
    const text = fc.string({ unit, minLength: 1, maxLength: 3 });
    const value = fc.oneof(fc.jsonValue({ maxDepth: 4 }), text, text.map(far));
    const nested = fc.oneof(
      fc.array(value, { maxLength: 5 }),
      fc.dictionary(fc.oneof(text, text.map(far), fc.constantFrom('__proto__', '1')), value, { maxKeys: 5 }),
    );
    fc.assert(
      fc.property(fc.oneof(value, nested, fc.array(nested, { maxLength: 3 })), (written) => {
        // As it comes out of a parser: with a prototype, and without a negative zero.
        const data = JSON.parse(JSON.stringify(written)) as JsonValue;
        expect(atOnce(writeLargeJson(data)) === JSON.stringify(data)).toBe(true);
      }),
      { numRuns: 120 },
    );
  });

  it.each<[string, () => JsonValue]>([
    ['names', () => Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`name ${at}`, at]))],
    ['empty objects', () => Array.from({ length: MIB / 4 }, () => ({}))],
    ['a long string of escapes', () => '"'.repeat(2 * MIB)],
    ['numbers', () => Array.from({ length: MIB / 4 }, (_, at) => at / 7)],
    ['a long string of control characters', () => '\u0001'.repeat(MIB)],
  ])('lets others run each hundred thousand characters: %s', (_what, make) => {
    expect(longestJsonPiece(writeLargeJson(make()))).toBeLessThan(100_000);
  });
});
