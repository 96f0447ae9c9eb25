// JSON values as bytes: their ends are where JSON.stringify has put them, and numbers are those that it has written.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonEnd, numberAt, numberEnd, plainStringEnd } from './json-bytes.ts';

it('a value ends where it ends, whatever comes behind it', () => {
  const behind = fc.constantFrom(',"a":1}', '}', ']', '\n');
  fc.assert(
    fc.property(fc.jsonValue(), behind, (value, rest) => {
      // Of what is neither string, list nor object, only the first character is looked at.
      const text = JSON.stringify([value]);
      expect(jsonEnd(Buffer.from(`x${text}${rest}`), 1)).toBe(1 + Buffer.byteLength(text));
    }),
  );
});

it('a plain string ends behind its quote, and one that is not plain is none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const text = JSON.stringify(value);
      const isPlain = /^"[ !#-[\]-~]*"$/.test(text);
      expect(plainStringEnd(Buffer.from(`:${text},`), 1)).toBe(isPlain ? 1 + text.length : 0);
    }),
  );
  for (const text of ['', 'a"', '"a', '"\n"']) expect(plainStringEnd(Buffer.from(text), 0)).toBe(0);
});

function numberOf(text: string): number {
  const bytes = Buffer.from(`:${text},`);
  return numberAt(bytes, 1, numberEnd(bytes, 1));
}

it('a number is the one that was written, to the last bit', () => {
  const some = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.integer({ min: 0, max: 10_000_000 }).map((us) => us / 1000),
  );
  fc.assert(
    fc.property(some, (value) => {
      expect(numberOf(JSON.stringify(value))).toBe(value === 0 ? 0 : value);
    }),
    { numRuns: 1_000 },
  );
});

it.each([
  '',
  '-',
  '.',
  '1.',
  '.5',
  '01',
  '00',
  '1.50',
  '1.0',
  '+1',
  '1e3',
  '1e999',
  '1.2.3',
  '--1',
  '1-2',
  '0.0000001',
])('%j is no number as it is written', (text) => {
  expect(numberOf(text)).toBeNaN();
});
