// Integers of 64 bits in schemas: text of digits is one exactly where nothing else could be meant, and is checked as exactly.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { int64PlacesOf } from './int64-places.ts';
import { createValidator } from './validator.ts';

const INT64 = { type: 'integer', format: 'int64' };
const LARGE = '9007199254740993';
const objectOf = (id: object) => ({ type: 'object', properties: { id } });
const pointersIn = (schema: object, value: object) =>
  int64PlacesOf(schema)
    ?.textsIn(value)
    .map(({ pointer }) => pointer());
const check = (schema: object, value: unknown) =>
  createValidator(schema, { readsIntegers: true })
    .validate(value)
    .map(({ pointer, message }) => `${pointer} ${message}`);

const summaryOf = (violations: readonly object[]) =>
  violations.map((each) => JSON.stringify(each)).toSorted();

describe('int64PlacesOf', () => {
  it.each<[string, object, object, readonly string[]]>([
    ['a member', objectOf(INT64), { id: LARGE }, ['/id']],
    [
      'one that may be null',
      objectOf({ type: ['integer', 'null'], format: 'int64' }),
      { id: LARGE },
      ['/id'],
    ],
    ['an alternative to null', objectOf({ anyOf: [INT64, { type: 'null' }] }), { id: LARGE }, ['/id']],
    ['an item', objectOf({ type: 'array', items: INT64 }), { id: ['1', LARGE] }, ['/id/0', '/id/1']],
    [
      'one item of several',
      objectOf({ prefixItems: [{ type: 'string' }, INT64] }),
      { id: ['1', '2'] },
      ['/id/1'],
    ],
    ['any other member', { additionalProperties: INT64 }, { 'a/b': '7' }, ['/a~1b']],
    [
      'a named member beside any other',
      { ...objectOf({ type: 'string' }), additionalProperties: INT64 },
      { id: '7', x: '8' },
      ['/x'],
    ],
    ['a reference', { ...objectOf({ $ref: '#/$defs/id' }), $defs: { id: INT64 } }, { id: '7' }, ['/id']],
    [
      'a schema in itself',
      { properties: { id: INT64, child: { $ref: '#' } } },
      { child: { child: { id: '7' } } },
      ['/child/child/id'],
    ],
    ['what may also be text', objectOf({ anyOf: [INT64, { type: 'string' }] }), { id: LARGE }, []],
    [
      'what one branch holds for text',
      { ...objectOf(INT64), if: {}, else: objectOf({ type: 'string' }) },
      { id: '7' },
      [],
    ],
    ['what may be one of some words', objectOf({ anyOf: [INT64, { enum: ['7'] }] }), { id: '7' }, []],
    ['words', objectOf(INT64), { id: 'seven' }, []],
    [
      'digits of another spelling',
      { additionalProperties: INT64 },
      { a: '07', b: '+7', c: '7.0', d: '-0', e: ' 7', f: '7e2' },
      [],
    ],
    [
      'more than 64 bits',
      { additionalProperties: INT64 },
      { a: '9223372036854775808', b: '-9223372036854775809' },
      [],
    ],
    [
      'the smallest and the largest',
      { additionalProperties: INT64 },
      { a: '9223372036854775807', b: '-9223372036854775808' },
      ['/a', '/b'],
    ],
    ['an integer of no format', { ...objectOf({ type: 'integer' }), $defs: { x: INT64 } }, { id: '7' }, []],
  ])('%s', (_what, schema, value, expected) => {
    expect(pointersIn(schema, value) ?? []).toEqual(expected);
  });

  it('the name of a member is no member', () => {
    const schema = { additionalProperties: INT64, propertyNames: { type: 'string' } };
    expect(pointersIn(schema, { '7': '8' })).toEqual(['/7']);
  });
});

describe('a validator of 64 bits', () => {
  it('a text of digits is a number where a double holds it, and stays text where none does', () => {
    const value = { id: '42' };
    expect(check(objectOf(INT64), value)).toEqual([]);
    expect(value).toEqual({ id: 42 });
    const large = { id: LARGE };
    expect(check(objectOf(INT64), large)).toEqual([]);
    expect(large).toEqual({ id: LARGE });
  });

  it('a result is checked and left as it came', () => {
    const value = { id: '42', more: [LARGE] };
    const schema = { properties: { id: INT64, more: { items: INT64 } } };
    expect(createValidator(schema).validate(value)).toEqual([]);
    expect(value).toEqual({ id: '42', more: [LARGE] });
    expect(createValidator(INT64).validate(LARGE)).toEqual([]);
    expect(createValidator(INT64).validate('many')).toHaveLength(1);
  });

  it.each<[string, object, string, readonly string[]]>([
    ['minimum', { minimum: 0 }, `-${LARGE}`, ['/id must be >= 0']],
    ['maximum', { maximum: 9007199254740992 }, LARGE, ['/id must be <= 9007199254740992']],
    ['exclusiveMinimum', { exclusiveMinimum: 9007199254740992 }, LARGE, []],
    [
      'exclusiveMaximum',
      { exclusiveMaximum: 9007199254740992 },
      '9007199254740992',
      ['/id must be < 9007199254740992'],
    ],
    ['multipleOf', { multipleOf: 2 }, LARGE, ['/id must be multiple of 2']],
    ['multipleOf of a fraction', { multipleOf: 0.5 }, LARGE, []],
    ['enum', { enum: [1, 2] }, LARGE, ['/id must be one of 1, 2']],
    ['a smaller number, too', { maximum: 41 }, '42', ['/id must be <= 41']],
    ['ranges said beside', { allOf: [{ minimum: 0 }] }, `-${LARGE}`, ['/id must be >= 0']],
    ['types said beside', { allOf: [{ type: 'number' }] }, LARGE, []],
  ])('%s holds for it', (_what, more, id, expected) => {
    expect(check(objectOf({ ...INT64, ...more }), { id })).toEqual(expected);
  });

  it('other types are summaryOf as ever', () => {
    const schema = objectOf({ ...INT64, nullable: true });
    expect(check(schema, { id: null })).toEqual([]);
    expect(check(schema, { id: true })).toEqual(['/id must be integer or null, found boolean']);
    expect(check(schema, { id: 1.5 })).toEqual(['/id must be integer or null, found number']);
    expect(check(objectOf(INT64), { id: 'seven' })).toEqual(['/id must be integer, found string']);
  });

  it('of one and the other, text is text', () => {
    const schema = objectOf({ oneOf: [INT64, { type: 'string' }] });
    const value = { id: LARGE };
    expect(check(schema, value)).toEqual([]);
    expect(value).toEqual({ id: LARGE });
  });

  it('says the same of every number as a validator without such a format', () => {
    // Of greater ones Ajv takes `1e+21 / 1` for no multiple of 1.
    const numbers = fc.oneof(
      fc.double({ min: -1e20, max: 1e20 }),
      fc.integer(),
      fc.constantFrom(null, 'x', true, [], {}),
    );
    const ranges = fc.record(
      {
        minimum: fc.integer(),
        maximum: fc.integer(),
        exclusiveMinimum: fc.integer(),
        multipleOf: fc.integer({ min: 1 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(numbers, ranges, (value, range) => {
        const plain = createValidator({ type: 'array', items: { type: 'integer', ...range } });
        const wide = createValidator({ type: 'array', items: { ...INT64, ...range } });
        expect(summaryOf(wide.validate([value]))).toEqual(summaryOf(plain.validate([value])));
      }),
      { numRuns: 100 },
    );
  });

  it('a schema that loops through sets of itself costs no more than its places', () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const definition = (skip: number) => ({
      properties: Object.fromEntries(
        names.map((name, index) => [
          name,
          index === skip ? INT64 : { anyOf: [{ $ref: `#/$defs/${name}` }, { $ref: '#/$defs/n0' }] },
        ]),
      ),
    });
    const schema = {
      ...definition(0),
      $defs: Object.fromEntries(names.map((name, index) => [name, definition(index)])),
    };
    const places = int64PlacesOf(schema);
    let value: object = { n0: '1' };
    for (let level = 0; level < 30; level += 1)
      value = Object.fromEntries(names.map((name, index) => [name, index === level % 12 ? value : '1']));
    expect(places?.textsIn(value)).toBeDefined();
  });
});
