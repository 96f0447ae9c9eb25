// Globs: as a regular expression says it, and in time that a pattern full of stars cannot stretch.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { globMatcher } from './glob.ts';

const asRegExp = (pattern: string) =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`);

it('takes a name that one of the patterns is', () => {
  const matches = globMatcher(['read_*', 'list']);
  expect(['read_file', 'read_', 'list', 'listing', 'write_file'].filter(matches)).toEqual([
    'read_file',
    'read_',
    'list',
  ]);
});

it('agrees with the regular expression that the pattern stands for', () => {
  const word = (letters: string) => fc.string({ unit: fc.constantFrom(...letters.split('')), maxLength: 8 });
  fc.assert(
    fc.property(word('ab.*?'), word('ab.'), (pattern, name) => {
      expect(globMatcher([pattern])(name)).toBe(asRegExp(pattern).test(name));
    }),
  );
});

it('does not try the stars in all ways', () => {
  expect(globMatcher(['a*'.repeat(60) + 'b'])('a'.repeat(10_000))).toBe(false);
});
