import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfLines, halvesOf, piecesOf } from './json-lines.ts';

const records = fc.array(fc.jsonValue(), { minLength: 1, maxLength: 40 });
const linesOf = (values: readonly unknown[]) =>
  Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));

describe('JSON lines as bytes', () => {
  it('pieces hold every line once, in order, and never more than asked for', () => {
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 7 }), fc.string(), (values, most, torn) => {
        const bytes = Buffer.concat([linesOf(values), Buffer.from(torn.replaceAll('\n', ''))]);
        const pieces = [...piecesOf(bytes, most)];
        expect(Buffer.concat(pieces)).toEqual(bytes.subarray(0, endOfLines(bytes)));
        for (const piece of pieces) expect(piece.toString().split('\n').length - 1).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('halves are both smaller and together the whole, down to single lines', () => {
    const singles = (lines: Buffer): Buffer[] => halvesOf(lines)?.flatMap(singles) ?? [lines];
    fc.assert(
      fc.property(records, (values) => {
        const found = singles(linesOf(values)).map(String);
        expect(found).toEqual(values.map((value) => `${JSON.stringify(value)}\n`));
      }),
    );
  });

  it('bytes without a newline are no line', () => {
    expect([...piecesOf(Buffer.from('{"a":1'), 3)]).toEqual([]);
    expect(endOfLines(Buffer.from('{"a":1'))).toBe(0);
  });
});
