// Hashes of values: one for equal values, none for those that text cannot tell apart.
import * as fc from 'fast-check';
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';
import { canonicalHash } from './canonical-json.ts';

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

function outcomeOf(run: () => string): string {
  try {
    return run();
  } catch {
    return 'refused';
  }
}
