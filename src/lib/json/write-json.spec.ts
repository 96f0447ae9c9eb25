// JSON as it is written for others: nothing turns into null on the way.
import { describe, expect, it } from 'vitest';
import { writeJson } from './write-json.ts';

describe('writeJson', () => {
  it.each([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [[null, -Infinity]],
    [{ a: { b: [0 / 0] } }],
    [new Number(Number.NaN)],
    [{ toJSON: () => Number.NaN }],
    [1n],
    [[{ a: 2n }]],
  ])('refuses %o', (value) => {
    expect(() => writeJson(value)).toThrow(TypeError);
  });

  it.each([
    [null],
    [{ a: null, b: 'null', c: 'NaN', d: 1e308 }],
    [[undefined]],
    ['x'],
    [0],
    [[]],
    [undefined],
  ])('writes %o as JSON.stringify does', (value) => {
    expect(writeJson(value)).toBe(JSON.stringify(value));
  });
});
