// Which records may be made together with others.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/helpers/call-kit.ts';
import { hashesQuickly } from './audit-record.ts';

describe('hashesQuickly', () => {
  it.each([
    [{}],
    [{ text: 'the quick brown fox', limit: 10, tags: ['a', 'b'], filter: { from: null } }],
    [{ text: 'x'.repeat(1_900) }],
    [Array.from({ length: 60 }, () => 1)],
    [null],
  ])('%j does', (value) => {
    expect(hashesQuickly(requestOf({ arguments: { value } }))).toBe(true);
  });

  it.each([
    ['a long text', 'x'.repeat(2_100)],
    ['a long name', { ['x'.repeat(2_100)]: 1 }],
    ['many items', Array.from({ length: 100 }, () => 1)],
    ['many members', Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, at]))],
    ['many values in one another', JSON.parse(`${'{"a":['.repeat(500)}${']}'.repeat(500)}`)],
    ['a few lists of some items each', Array.from({ length: 10 }, () => Array.from({ length: 10 }, () => 1))],
  ])('%s does not', (_what, value) => {
    expect(hashesQuickly(requestOf({ arguments: { value } }))).toBe(false);
  });

  it('what does has 64 values and 2,048 characters at most, however they are put together', () => {
    const countOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, member) => sum + countOf(member), 1)
        : 1;
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const value = JSON.parse(text);
        if (!hashesQuickly(requestOf({ arguments: { value } }))) return;
        expect(countOf(value)).toBeLessThanOrEqual(64);
        expect(JSON.stringify(value).length).toBeLessThanOrEqual(6 * 2_048 + 64 * 32);
      }),
    );
  });
});
