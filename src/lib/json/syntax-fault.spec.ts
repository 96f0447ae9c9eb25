import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { syntaxFault } from './syntax-fault.ts';

describe('syntaxFault', () => {
  it.each([
    ['', 0],
    ['{', 1],
    ['{"a": two}', 6],
    ['{"a":1,}', 7],
    ['{"a":1 "b":2}', 7],
    ['{a:1}', 1],
    ['[1,]', 3],
    ['[1}', 2],
    ['01', 1],
    ['"a\nb"', 0],
    ['"\\x"', 0],
    ['{} {}', 3],
    ['{"a":', 5],
    [`{'a':1}`, 1],
  ])('%j stops being JSON at %i', (text, at) => expect(syntaxFault(text)).toBe(at));

  const near = fc
    .tuple(
      fc.jsonValue(),
      fc.nat(),
      fc.constantFrom('', ',', '}', ']', ':', '"', '\\', '1', ' ', 'x', '\u0001', '\u0085', '{'),
    )
    .map(([value, place, put]) => {
      const text = JSON.stringify(value);
      const at = place % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + (place % 2));
    });

  it('finds a fault exactly where JSON.parse refuses the text', () => {
    fc.assert(
      fc.property(fc.oneof(near, fc.json(), fc.string()), (text) => {
        const isJson = () => {
          try {
            JSON.parse(text);
            return true;
          } catch {
            return false;
          }
        };
        expect(syntaxFault(text) === undefined).toBe(isJson());
      }),
      { numRuns: 2_000 },
    );
  });

  it('what stands before the fault can go on to be JSON', () => {
    fc.assert(
      fc.property(near, (text) => {
        const at = syntaxFault(text);
        fc.pre(at !== undefined);
        expect(syntaxFault(text.slice(0, at))).toSatisfy((end) => end === undefined || end === at);
      }),
    );
  });
});
