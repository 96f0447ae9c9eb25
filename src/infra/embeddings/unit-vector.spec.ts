// What an embedding service answers: a vector of length 1 that a database can hold, or an error that says what it was instead.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { unitVector } from './unit-vector.ts';

const answer = (embedding: unknown) => JSON.stringify({ data: [{ embedding }] });

it('whatever finite numbers there are, the vector is of length 1 and of numbers that a real holds', () => {
  const numbers = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
    minLength: 1,
    maxLength: 64,
  });
  fc.assert(
    fc.property(numbers, (values) => {
      fc.pre(values.some((value) => value !== 0));
      const vector = unitVector(answer(values));
      expect(vector).toHaveLength(values.length);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
      for (const value of vector) expect(value === 0 || Math.abs(value) >= 1e-30).toBe(true);
    }),
  );
});

function outcomeOf(text: string): string {
  try {
    return unitVector(text).length > 0 ? 'a vector' : 'nothing';
  } catch (error) {
    return (error as Error).message;
  }
}

it('whatever else is answered is an Error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string(), fc.jsonValue().map(answer)), (text) => {
      expect(outcomeOf(text)).toMatch(/^(?:a vector|the (?:vector|embedding service) .*)$/s);
    }),
  );
});

it('a length that was not asked for, and one that nobody takes, are refused', () => {
  expect(() => unitVector(answer([1, 2]), 3)).toThrow('2 dimensions, and not the 3');
  expect(() => unitVector(answer(Array.from({ length: 8_193 }, () => 1)))).toThrow('8193 dimensions');
});
