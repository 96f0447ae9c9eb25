// Selections: checked at load, bounded in what they can cost, and what they give.
import { describe, expect, it } from 'vitest';
import { selectData, selectionProblem } from './select-data.ts';

const DATA = {
  items: [
    { id: 1, tags: ['a', 'b'] },
    { id: 2, tags: [] },
  ],
  total: 2,
};

describe('a selection', () => {
  it.each([
    ['items[].id', [1, 2]],
    ['items[?id > `1`].{id: id, tags: length(tags)} | [0]', { id: 2, tags: 0 }],
    ['missing', null],
    ['items[:1].tags[0] | [0]', 'a'],
    ['items[*].tags | [0][::-1]', ['b', 'a']],
    ['not_null(missing, total) || `0`', 2],
    ['sort_by(items, &id)[-1].id', 2],
    ['*', [DATA.items, 2]],
    ['join(`, `, items[].tags[])', 'a, b'],
  ])('%s gives %j', (expression, expected) => {
    expect(selectionProblem(expression)).toBeUndefined();
    expect(selectData(structuredClone(DATA), expression, 1_000)).toEqual(expected);
  });

  it.each(['', 'items[', 'a.', 'a..b', 'items[*].', '{a}', 'nope(@)', 'x'.repeat(1_001)])(
    '%j is refused at load',
    (expression) => {
      expect(selectionProblem(expression)).toContain('Expected a JMESPath expression');
    },
  );

  it.each([
    ['copies the data again and again', '[@,@]|'.repeat(40) + '[@,@]'],
    ['copies it by projections', 'items[].[@,@,@,@][].[@,@,@,@][].[@,@,@,@]'],
    ['copies it by names', '{a:@,b:@,c:@}|{a:@,b:@,c:@}|{a:@,b:@,c:@}'],
    ['copies it by mapping', 'map(&[@,@,@,@,@], map(&[@,@,@,@,@], @))'],
  ])('that %s is refused at load', (_, expression) => {
    expect(selectionProblem(expression)).toContain('at most 16 times');
  });

  it('that does not fit the answer is OUTPUT_INVALID', () => {
    expect(() => selectData({ a: 'x' }, 'sum(a)', 1_000)).toThrow(
      expect.objectContaining({ type: 'OUTPUT_INVALID', reason: 'SELECTION_FAILED' }),
    );
  });

  it('whose result is larger than the cap is OUTPUT_TOO_LARGE', () => {
    const data = { a: 'x'.repeat(600) };
    expect(selectData(data, '[a]', 1_000)).toEqual([data.a]);
    expect(() => selectData(data, '[a, a]', 1_000)).toThrow(
      expect.objectContaining({ type: 'OUTPUT_TOO_LARGE' }),
    );
  });
});
