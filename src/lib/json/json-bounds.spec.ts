import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_NAMES, MOST_VALUES, tooMuchIn, tooMuchInLarge } from './json-bounds.ts';

const list = (length: number, item: (index: number) => string) =>
  `[${Array.from({ length }, (_, index) => item(index)).join(',')}]`;
const object = (length: number, name: (index: number) => string) =>
  `{${Array.from({ length }, (_, index) => `${JSON.stringify(name(index))}:1`).join(',')}}`;

describe('tooMuchIn', () => {
  it.each([
    ['levels', '['.repeat(65) + ']'.repeat(65)],
    ['levels', '{"a":'.repeat(65) + '1' + '}'.repeat(65)],
    ['values', list(MOST_VALUES, () => '0')],
    ['values', list(MOST_VALUES / 2 + 1, () => '{}')],
    ['names', object(MOST_NAMES + 1, (index) => `k${index}`)],
    ['names', list(MOST_NAMES + 1, (index) => `{"k${index}":1}`)],
    ['names', object(MOST_NAMES + 1, (index) => `\n"${index}`)],
  ])('more than enough %s', (what, json) => {
    expect(tooMuchIn(json)).toBe(what);
  });

  it.each([
    ['as deep as may be', '['.repeat(64) + ']'.repeat(64)],
    ['as many values as may be', list(MOST_VALUES - 2, () => '0')],
    ['as many names as may be', object(MOST_NAMES, (index) => `k${index}`)],
    ['the same names in many rows', list(30_000, (index) => `{"id":${index},"name":"n${index}"}`)],
    ['one long text', JSON.stringify('z'.repeat(4_000_000))],
    ['signs inside of a text', JSON.stringify('[{,:"\\'.repeat(300_000))],
    ['a text that ends in escapes', JSON.stringify(['a\\', '"', '\\"', ','.repeat(300_000)])],
  ])('%s is within bounds', (_, json) => {
    expect(tooMuchIn(json)).toBeUndefined();
  });

  it('lets every small value pass', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(tooMuchIn(json)).toBeUndefined();
      }),
    );
  });

  it('reads a text with escapes on, wherever a slice of it ends', async () => {
    const json = JSON.stringify({ 'a"\\': ['[{,:"\\', '\\"', '"'], b: '{'.repeat(100) });
    for (let before = 0; before < json.length; before += 1) {
      const text = ' '.repeat(65_536 - before) + json;
      expect([before, tooMuchIn(text, 2), await tooMuchInLarge(text, 2)]).toEqual([
        before,
        undefined,
        undefined,
      ]);
      expect([before, tooMuchIn(text, 1), await tooMuchInLarge(text, 1)]).toEqual([
        before,
        'levels',
        'levels',
      ]);
    }
  });

  it('counts on over slices', async () => {
    for (const blanks of [0, 1, 2]) {
      const item = `${' '.repeat(blanks)}{}`;
      expect(await tooMuchInLarge(list(MOST_VALUES / 2 - 1, () => item))).toBeUndefined();
      expect(await tooMuchInLarge(list(MOST_VALUES / 2, () => item))).toBe('values');
    }
  });
});
