// One YAML value: what JSON can say comes through, everything else is a sentence.
import { describe, expect, it } from 'vitest';
import { parseOne } from './parse-one.ts';

describe('parseOne', () => {
  it('keeps the order of keys, and repeats what an alias stands for', () => {
    expect(parseOne('b: &x [1]\na: *x\n')).toEqual({ json: '{"b":[1],"a":[1]}' });
    expect(parseOne('')).toEqual({ json: 'null' });
  });

  it.each([
    ['a: 1\na: 2\n', /line 2, column 1: not valid YAML/],
    ['a: [1\n', /line \d/],
    ['a: &a [*a]\n', /cannot be read/],
    ['['.repeat(20_000), /./],
    [
      `a0: &a0 [x, x, x]\n${Array.from({ length: 8 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}]`).join('\n')}\n`,
      /alias/,
    ],
  ])('says in a sentence what is wrong with %.20s', (text, message) => {
    expect(parseOne(text)).toEqual({ message: expect.stringMatching(message) });
  });
});
