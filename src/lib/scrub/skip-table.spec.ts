// Specs of SkipTable, alone and in the automaton that uses it, against String.includes.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../concurrency/in-slices.ts';
import { SecretAutomaton } from './automaton.ts';
import { SkipTable } from './skip-table.ts';

const unit = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', 'c', '0') },
  { weight: 1, arbitrary: fc.constantFrom('ü', '😀', '\uffff', '\0') },
);
const sized = (minLength: number, maxLength: number) =>
  fc.uniqueArray(fc.string({ unit, minLength, maxLength }), { minLength: 1, maxLength: 6 });
/** Shorter than a window may be, of one length, and longer than a window gets. */
const long = [sized(6, 6), sized(8, 20), sized(70, 90)];
const casesOf = (texts: fc.Arbitrary<string[]>) =>
  texts.chain((values) => {
    const part = fc
      .tuple(fc.constantFrom(...values), fc.nat(90), fc.nat(90))
      .map(([text, from, length]) => text.slice(from, from + length));
    const piece = fc.oneof(fc.constantFrom(...values), part, fc.string({ unit, maxLength: 30 }));
    return fc.record({
      values: fc.constant(new Set(values)),
      text: fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
    });
  });

describe('SkipTable', () => {
  it('goes past no place where a text stands', () => {
    fc.assert(
      fc.property(casesOf(fc.oneof(...long)), fc.nat(40), ({ values, text }, at) => {
        const from = Math.min(at, text.length);
        const next = atOnce(SkipTable.of(values))?.next(text, from);
        const first = [...values].map((value) => text.indexOf(value, from)).filter((at) => at >= 0);
        expect(next).toBeGreaterThanOrEqual(from);
        for (const at of first) expect(next).toBeLessThanOrEqual(at);
      }),
      { numRuns: 1_000 },
    );
  });

  it('goes to the end at once where no pair of the texts stands', () => {
    const table = atOnce(SkipTable.of(new Set(['p4ssw0rd-of-ann', 'p4ssw0rd-of-bob'])));
    const text = 'x'.repeat(400);
    expect(table?.next(text, 0)).toBe(text.length);
  });

  it('is none for texts that are short or many', () => {
    const many = new Set(Array.from({ length: 501 }, (_, index) => `the secret of number ${index}`));
    for (const values of [new Set(['abcde', 'a long one']), many])
      expect(atOnce(SkipTable.of(values))).toBeUndefined();
  });
});

describe('an automaton that skips', () => {
  it('finds a text exactly where String.includes does', () => {
    fc.assert(
      fc.property(casesOf(fc.oneof(sized(1, 8), ...long)), ({ values, text }) => {
        const automaton = atOnce(SecretAutomaton.build(values));
        expect(automaton.finds(text)).toBe([...values].some((value) => text.includes(value)));
      }),
      { numRuns: 2_000 },
    );
  });
});
