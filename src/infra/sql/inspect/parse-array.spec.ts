// Arrays in PostgreSQL's text format.
import { describe, expect, it } from 'vitest';
import { parseArray } from './parse-array.ts';

describe('parseArray', () => {
  it.each([
    ['{}', []],
    ['{a,NULL,"NULL"}', ['a', null, 'NULL']],
    [
      '{{a,b},{c,d}}',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['{"{,}","\\"","\\\\"}', ['{,}', '"', '\\']],
    ['[0:1]={a,b}', ['a', 'b']],
    ['{""}', ['']],
  ])('%s', (text, items) => {
    expect(parseArray(text, (item) => item)).toEqual(items);
  });

  it.each(['', '{', '{a', '{"a'])('%j is no array', (text) => {
    expect(() => parseArray(text, (item) => item)).toThrow('before its closing brace');
  });
});
