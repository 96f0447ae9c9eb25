// Guesses: near words are found, unlike words are left alone.
import { describe, expect, it } from 'vitest';
import { didYouMean } from './did-you-mean.ts';

const WORDS = ['timeout_ms', 'tool_type', 'description', 'tags'];

describe('didYouMean', () => {
  it.each([
    ['timeout', 'timeout_ms'],
    ['tool_tpye', 'tool_type'],
    ['Description', 'description'],
    ['tag', 'tags'],
  ])('%s is meant to be %s', (word, meant) => {
    expect(didYouMean(word, WORDS)).toBe(meant);
  });

  it.each(['zebra', '', 'ab', 'x'.repeat(100_000)])(
    'nothing is guessed for a word that is like none',
    (word) => {
      expect(didYouMean(word, WORDS)).toBeUndefined();
    },
  );
});
