// How the work of scrubbing grows with what is scrubbed, counted in a thread of its own: an upstream or a model may choose the text.
import { describe, expect, it } from 'vitest';
import { growthOf, type Sized } from '../helpers/scrub-work.ts';

describe('the scrubber', () => {
  const KIB = 1_024;
  const selfSimilar = `${'a'.repeat(3_000)}b`;
  it.each<[string, Sized]>([
    [
      'a self-similar secret in a text like itself',
      (n) => ({ secrets: [selfSimilar], value: 'a'.repeat(n * 64 * KIB) }),
    ],
    ['escapes without end', (n) => ({ secrets: [selfSimilar], value: '%61'.repeat(n * 16 * KIB) })],
    [
      'percent signs that undo each other',
      (n) => ({ secrets: ['%25'.repeat(500)], value: '%25'.repeat(n * 16 * KIB) }),
    ],
    [
      'several secrets',
      (n) => ({
        secrets: Array.from({ length: n * 3 }, (_, at) => `v${at}secretive`),
        value: ['v1secretive '.repeat(n * 4 * KIB)],
      }),
    ],
    ['a long secret', (n) => ({ secrets: ['ab'.repeat(n * 32 * KIB)], value: ['ab'.repeat(n * 32 * KIB)] })],
    [
      'many values',
      (n) => ({
        secrets: ['hunter22'],
        value: Array.from({ length: n * 20 }, (_, at) => ({ id: at, name: 'x'.repeat(2_000) })),
      }),
    ],
  ])('does twice the work for twice as much, in pieces no longer than before: %s', async (_what, job) => {
    const { growth, longestTurns } = await growthOf(job);
    expect(growth).toBeLessThan(2.2);
    const [one = 0, two = 0] = longestTurns;
    // Tables of hashes with a salt of their own: a little more or less.
    expect(two).toBeLessThan(one * 1.5);
    // In blocks of code: some milliseconds.
    expect(two).toBeLessThan(1_000_000);
  });

  it.each([
    ['\\'.repeat(12) + '"'.repeat(8) + '/'.repeat(8) + 'x', '\\'.repeat(10) + '/'.repeat(10)],
    ['\\"'.repeat(12) + 'x', '\\"'.repeat(10)],
    ['\\"'.repeat(12) + 'x', '\\\\\\\\"'.repeat(5)],
    ['%25'.repeat(12) + 'x', '%25'.repeat(10)],
    ['&amp;'.repeat(12) + 'x', '&amp;'.repeat(10)],
    ['\\u0022'.repeat(12) + 'x', '\\u0022'.repeat(10)],
    [`${'a'.repeat(60)}b`, 'a'.repeat(50)],
  ])('does twice the work for twice the text: %j in a text made to be slow', async (value, hostile) => {
    const { growth } = await growthOf((size) => ({ secrets: [value], value: hostile.repeat(size * 500) }));
    expect(growth).toBeLessThan(2.2);
  });
});
