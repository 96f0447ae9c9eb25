// Selections: checked at load, bounded in what they can cost, and what they give.
import { describe, expect, it } from 'vitest';
import { compileSelection, selectionProblem } from './select-data.ts';

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
    expect(compileSelection(expression, 1_000)(structuredClone(DATA))).toEqual(expected);
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
    expect(() => compileSelection('sum(a)', 1_000)({ a: 'x' })).toThrow(
      expect.objectContaining({ type: 'OUTPUT_INVALID', reason: 'SELECTION_FAILED' }),
    );
  });

  it('has a bounded amount of work: an answer cannot make it compute without end', () => {
    const data = { list: Array.from({ length: 1_000 }, (_, n) => n) };
    expect(() => compileSelection('list[?contains(@, `1`)]', 10)(data)).toThrow(
      expect.objectContaining({ type: 'OUTPUT_INVALID', reason: 'SELECTION_FAILED' }),
    );
  });

  it.each(['constructor', 'items.length', '"__proto__"'])('%s is not found: data inherit nothing', (path) => {
    expect(compileSelection(path, 1_000)(structuredClone(DATA))).toBeNull();
  });

  it('whose result is larger than the cap is OUTPUT_TOO_LARGE', () => {
    const data = { a: 'x'.repeat(600) };
    expect(compileSelection('[a]', 1_000)(data)).toEqual([data.a]);
    expect(() => compileSelection('[a, a]', 1_000)(data)).toThrow(
      expect.objectContaining({ type: 'OUTPUT_TOO_LARGE' }),
    );
  });
});
