// JSON as models write it: what has one meaning alone is put right, whatever else is broken stays so.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MendableText } from './mended-json.ts';
import type { BrokenObject, MendedObject } from './mended-object.ts';

const read = (text: string, start = 0) => new MendableText(text).objectAt(start);

function mended(text: string): { readonly value: unknown; readonly kinds: readonly string[] } {
  const found = read(text) as MendedObject;
  expect(found).toMatchObject({ whole: true, end: text.length });
  return { value: JSON.parse(found.json) as unknown, kinds: found.mends.map(({ kind }) => kind) };
}

it.each([
  ['{"a": 1, "b": [1, 2,],}', { a: 1, b: [1, 2] }, ['trailing_comma', 'trailing_comma']],
  ["{'it\\'s': 1}", { "it's": 1 }, ['single_quotes']],
  [`{'say': 'a "word"'}`, { say: 'a "word"' }, ['single_quotes', 'single_quotes']],
  ['{a: 1, $b-c: 2}', { a: 1, '$b-c': 2 }, ['unquoted_name', 'unquoted_name']],
  ['{"a": True, "b": False, "c": None}', { a: true, b: false, c: null }, Array(3).fill('python_literal')],
  ['{"a": "two\nlines\tand \\"more\\""}', { a: 'two\nlines\tand "more"' }, ['line_break_in_text']],
  ['{/* why */ "a": 1 // one\n, # two\n}', { a: 1 }, ['comment', 'comment', 'comment', 'trailing_comma']],
  ['{"a": "// no comment, /* nor here */"}', { a: '// no comment, /* nor here */' }, []],
  ['{"a": "}{][", "b": {"c": ["}"]}}', { a: '}{][', b: { c: ['}'] } }, []],
  ['{"a":-1.5e+3,"b":0,"c":"\\u00e9"}', { a: -1500, b: 0, c: 'é' }, []],
  ['{\u00a0"a":\ufeff1}', { a: 1 }, []],
])('%s is read', (text, value, kinds) => {
  expect(mended(text)).toEqual({ value, kinds });
});

describe.each([
  ['{"a": 1', 7, ', or }', 1],
  ['{"a": "cut off', 14, 'a value', 1],
  ['{"a": [1, 2', 11, ', or ]', 2],
  ['{"a": 1 "b": 2}', 8, ', or }', 1],
  ['{"a": }', 6, 'a value', 1],
  ['{,}', 1, 'a name or }', 1],
  ['{"a": [,]}', 7, 'a value or ]', 2],
  ['{"a": 1,, "b": 2}', 8, 'a name', 1],
  ['{"a": NaN}', 6, 'a value', 1],
  ['{"a": +1}', 6, 'a value', 1],
  ['{"a": 01}', 6, 'a value', 1],
  ['{"a": trueish}', 6, 'a value', 1],
  ['{"a": [1}', 8, ', or ]', 2],
  ['{"a" "b"}', 5, ':', 1],
  ['{"a": 1 /* no end', 8, ', or }', 1],
])('%s', (text, at, expected, depth) => {
  it('is broken there, and not guessed at', () => {
    expect(read(text)).toMatchObject({ whole: false, at, expected, depth } satisfies Partial<BrokenObject>);
  });
});

it('nesting beyond 32 levels is refused where it gets too deep', () => {
  expect(read('{"a":'.repeat(40))).toMatchObject({ whole: false, expected: 'at most 32 levels', at: 32 * 5 });
});

it('names of its own members are told where an object breaks off', () => {
  expect(read('{"tool": "x", args: {"inner": 1}, "rest": ?')).toMatchObject({
    names: ['tool', 'args', 'rest'],
  });
});

const value = fc.jsonValue({ maxDepth: 4 });

it('whatever JSON an object is, it is read as it stands', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), fc.string(), (object, before) => {
      const prose = before.replaceAll('{', '');
      const json = JSON.stringify(object);
      const found = read(`${prose}${json} and more`, prose.length);
      expect(found).toEqual({ whole: true, end: prose.length + json.length, json, mends: [] });
    }),
  );
});

it('an object that is written with slips means the same as without', () => {
  const scalar = fc.oneof(fc.string({ unit: 'binary-ascii' }), fc.integer(), fc.boolean(), fc.constant(null));
  const python = (of: unknown): string => {
    if (of === true) return 'True';
    if (of === false) return 'False';
    if (of === null) return 'None';
    if (typeof of !== 'string') return JSON.stringify(of);
    const inside = JSON.stringify(of).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
    return `'${inside}'`;
  };
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), scalar), (object) => {
      const members = Object.entries(object).map(([name, of]) => `${name}: ${python(of)}, # said\n`);
      expect(mended(`{ ${members.join('')} }`.replace('{  }', '{}')).value).toEqual(object);
    }),
  );
});
