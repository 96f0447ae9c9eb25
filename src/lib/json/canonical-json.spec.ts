// Hashes of values: one for equal values, none for those that text cannot tell apart.
import * as fc from 'fast-check';
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';
import { canonicalHash, hashesQuickly } from './canonical-json.ts';

describe('canonicalHash', () => {
  it('does not depend on the order of keys, and tells every other difference', () => {
    expect(canonicalHash({ a: 1, b: [1, 2] })).toBe(canonicalHash({ b: [1, 2], a: 1 }));
    expect(canonicalHash({ a: 1 })).not.toBe(canonicalHash({ a: '1' }));
    expect(canonicalHash([1, 2])).not.toBe(canonicalHash([2, 1]));
  });

  it('a value and its copy with every key in another place have one hash', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })),
        (value) => {
          const turned = Object.fromEntries(Object.entries(value).toReversed());
          expect(canonicalHash(turned)).toBe(canonicalHash(value));
        },
      ),
    );
  });

  it('is the hash of the text that RFC 8785 gives', () => {
    const text = '{"a":[1,1e+30,"\\u20ac-as-is"],"b":null}'.replace('\\u20ac-as-is', '€');
    expect(canonicalHash({ b: null, a: [1, 1e30, '€'] })).toBe(hash('sha256', text));
  });

  it('refuses what two values would share: lone surrogates and numbers beyond JSON', () => {
    expect(() => canonicalHash({ a: '\ud800' })).toThrow('surrogate');
    expect(() => canonicalHash({ a: Number.POSITIVE_INFINITY })).toThrow('Infinity');
    expect(() => canonicalHash({ '\udc00': 1 })).toThrow('surrogate');
    expect(() => canonicalHash(undefined)).toThrow('found undefined');
  });

  it('a flat object is written as the library would write it', () => {
    const flat = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.integer()));
    fc.assert(
      fc.property(flat, (value) => {
        expect(outcomeOf(() => canonicalHash(value))).toBe(
          outcomeOf(() => hash('sha256', canonicalize(value) ?? '')),
        );
      }),
    );
  });
});

describe('hashesQuickly', () => {
  it.each([
    [{}],
    [{ text: 'the quick brown fox', limit: 10, tags: ['a', 'b'], filter: { from: null } }],
    [{ text: 'x'.repeat(1_900) }],
    [Array.from({ length: 60 }, () => 1)],
    [undefined],
  ])('%j does', (value) => {
    expect(hashesQuickly(value)).toBe(true);
  });

  it.each([
    ['a long text', 'x'.repeat(2_100)],
    ['a long name', { ['x'.repeat(2_100)]: 1 }],
    ['many items', Array.from({ length: 100 }, () => 1)],
    ['many members', Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, at]))],
    ['many values in one another', JSON.parse(`${'{"a":['.repeat(500)}${']}'.repeat(500)}`)],
    ['a few lists of some items each', Array.from({ length: 10 }, () => Array.from({ length: 10 }, () => 1))],
  ])('%s does not', (_what, value) => {
    expect(hashesQuickly({ value })).toBe(false);
  });

  it('what does has 64 values and 2,048 characters at most, however they are put together', () => {
    const countOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, member) => sum + countOf(member), 1)
        : 1;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        if (!hashesQuickly(value)) return;
        expect(countOf(value)).toBeLessThanOrEqual(64);
        expect(JSON.stringify(value).length).toBeLessThanOrEqual(6 * 2_048 + 64 * 32);
      }),
    );
  });
});

function outcomeOf(run: () => string): string {
  try {
    return run();
  } catch {
    return 'refused';
  }
}
