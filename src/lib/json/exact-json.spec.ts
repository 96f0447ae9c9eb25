// Numbers of others: found wherever they stand, and never in a string.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { inexactNumberIn, withExactNumbers } from './exact-json.ts';

const read = (json: string): unknown => JSON.parse(withExactNumbers(json));

it.each([
  ['9007199254740993', '9007199254740993'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['{"id": 18446744073709551615}', { id: '18446744073709551615' }],
  ['[1e999,-1e999, 1E+400]', ['1e999', '-1e999', '1E+400']],
  ['1e21', '1e21'],
  ['9007199254740991', 9007199254740991],
  ['[0.1, 52.520008123456789012, 1e3, 1e-999]', [0.1, Number('52.520008123456789012'), 1000, 0]],
  ['{"a\\"9007199254740993": "9007199254740993 \\\\"}', { 'a"9007199254740993': '9007199254740993 \\' }],
])('%s is %j', (json, expected) => {
  expect(read(json)).toEqual(expected);
});

it('what JSON.parse reads exactly is left alone, whatever it is', () => {
  const exact = fc.json().filter((json) => inexactNumberIn(json) === undefined);
  fc.assert(
    fc.property(exact, (json) => {
      expect(withExactNumbers(json)).toBe(json);
    }),
  );
});

it('an integer of any size comes out as the digits that went in, in any place and any spacing', () => {
  const big = fc.bigInt({ min: 2n ** 53n, max: 2n ** 200n }).map(String);
  fc.assert(
    fc.property(big, fc.string(), fc.constantFrom('', ' ', '\n\t'), (digits, word, space) => {
      const json = `{${space}${JSON.stringify(word)}${space}:${space}[${digits}${space},"x",-${digits}${space}]}`;
      expect(Object.values(read(json) as object)).toEqual([[digits, 'x', `-${digits}`]]);
      expect(inexactNumberIn(json)).toBe(digits);
    }),
  );
});

it.each(['"', '"\\', '-', '1e', '--1e999', '"1e999', '1e999e999', `${'"\\'.repeat(9)}1e999`])(
  'what is no JSON stays none: %s',
  (json) => {
    expect(() => read(json)).toThrow(SyntaxError);
  },
);
