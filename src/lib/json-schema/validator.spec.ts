// Validators: right answers in plain words, and no value or schema that costs more than it should.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createValidator } from './validator.ts';

const check = (schema: object, value: unknown) => createValidator(schema).validate(value);

describe('createValidator', () => {
  it('says where and what was expected, and never repeats the value', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' }, 'b/c': { enum: ['x', 'y'] } },
      required: ['a', 'd'],
      additionalProperties: false,
    };
    const violations = check(schema, { a: 'secret', 'b/c': 'secret', extra: 'secret' });
    expect(violations).toEqual(
      expect.arrayContaining([
        { pointer: '/d', message: 'is required' },
        { pointer: '/extra', message: 'is not an expected property' },
        { pointer: '/a', message: 'must be number, found string' },
        { pointer: '/b~1c', message: 'must be one of "x", "y"' },
      ]),
    );
    expect(JSON.stringify(violations)).not.toContain('secret');
  });

  it('two patterns are two patterns', () => {
    expect(check({ type: 'string', pattern: '^a$' }, 'a')).toEqual([]);
    expect(check({ type: 'string', pattern: '^b$' }, 'a')).toHaveLength(1);
    const both = { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } };
    expect(check(both, { a: 'a', b: 'b' })).toEqual([]);
    expect(check(both, { a: 'b', b: 'a' })).toHaveLength(2);
  });

  it('an evil pattern takes no time to speak of', () => {
    const validator = createValidator({ type: 'string', pattern: '^(a+)+$' });
    expect(validator.validate(`${'a'.repeat(100_000)}!`)).toHaveLength(1);
  });

  it('fills defaults in, and says beforehand that it does', () => {
    const validator = createValidator({
      type: 'object',
      properties: { n: { type: 'integer', default: 10 } },
    });
    const value = {};
    expect(validator.changesValue).toBe(true);
    expect(validator.validate(value)).toEqual([]);
    expect(value).toEqual({ n: 10 });
    expect(createValidator({ properties: { default: { type: 'string' } } }).changesValue).toBe(false);
  });

  it('does not coerce', () => {
    expect(check({ type: 'number' }, '1')).toHaveLength(1);
    expect(check({ type: 'boolean' }, 'true')).toHaveLength(1);
  });

  it('a date-time is a real moment', () => {
    const schema = { type: 'string', format: 'date-time' };
    expect(check(schema, '2026-01-30T09:00:00Z')).toEqual([]);
    expect(check(schema, '2026-01-30T09:00:00+02:00')).toEqual([]);
    for (const text of ['2026-02-30T09:00:00Z', '2026-01-30', 'tomorrow', '2026-01-30T25:00:00Z']) {
      expect(check(schema, text)).toHaveLength(1);
    }
  });

  it('at most twenty violations are told', () => {
    const schema = { type: 'array', items: { type: 'number' } };
    expect(
      check(
        schema,
        Array.from({ length: 1000 }, () => 'x'),
      ),
    ).toHaveLength(20);
  });

  it('draft-07 has its own meaning of items', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      items: [{ type: 'string' }],
    };
    expect(check(schema, ['a', 1])).toEqual([]);
    expect(check(schema, [1])).toHaveLength(1);
  });

  it('schemas that share an instance do not share what # means', () => {
    const tree = (type: string) => ({
      type: 'object',
      properties: { value: { type }, next: { $ref: '#' } },
      $defs: { same: { $ref: '#' } },
    });
    const [strings, numbers] = [createValidator(tree('string')), createValidator(tree('number'))];
    for (let round = 0; round < 2; round += 1) {
      expect(strings.validate({ value: 'a', next: { value: 'b' } })).toEqual([]);
      expect(numbers.validate({ value: 1, next: { value: 2 } })).toEqual([]);
      expect(strings.validate({ next: { value: 1 } })).toEqual([
        { pointer: '/next/value', message: 'must be string, found number' },
      ]);
      expect(numbers.validate({ next: { value: 'a' } })).toEqual([
        { pointer: '/next/value', message: 'must be number, found string' },
      ]);
    }
  });

  it('two schemas may have one $id, even that of the meta-schema', () => {
    const $id = 'https://json-schema.org/draft/2020-12/schema';
    expect(check({ $id, properties: { a: { $ref: '#' } }, required: ['b'] }, { a: {}, b: 1 })).toEqual([
      { pointer: '/a/b', message: 'is required' },
    ]);
    expect(check({ $id, type: 'string' }, 'a')).toEqual([]);
  });

  it('names of sub-schemas change nothing, also two alike', () => {
    const named = { $anchor: 'a', type: 'integer' };
    const properties = { a: named, b: named, $anchor: { const: 1 }, c: { const: { $anchor: 'a' } } };
    const validator = createValidator({ $anchor: 'a', properties });
    expect(validator.validate({ a: 1, b: 2, $anchor: 1, c: { $anchor: 'a' } })).toEqual([]);
    const wrong = validator.validate({ a: 1, b: 'x', $anchor: 2, c: {} });
    expect(wrong.map(({ pointer }) => pointer)).toEqual(['/b', '/$anchor', '/c']);
  });

  it('properties that every object inherits are neither given nor in the way', () => {
    const schema = { properties: { constructor: { type: 'string' } }, required: ['toString'] };
    expect(check(schema, { toString: 1 })).toEqual([]);
    expect(check(schema, {})).toEqual([{ pointer: '/toString', message: 'is required' }]);
  });

  it.each([
    [
      'a property that another one needs',
      { dependentRequired: { a: ['b'] } },
      { a: 1 },
      { pointer: '/b', message: 'is required when "a" is given' },
    ],
    [
      'the name of a property',
      { propertyNames: { maxLength: 2 } },
      { abc: 1 },
      { pointer: '/abc', message: 'has a name that must NOT have more than 2 characters' },
    ],
    [
      'an unevaluated property',
      { unevaluatedProperties: false },
      { 'a~b': 1 },
      { pointer: '/a~0b', message: 'is not an expected property' },
    ],
    [
      'a schema that allows nothing',
      { properties: { a: false } },
      { a: 1 },
      { pointer: '/a', message: 'is not allowed here' },
    ],
    [
      'null',
      { type: ['string', 'integer'] },
      null,
      { pointer: '', message: 'must be string or integer, found null' },
    ],
  ])('tells of %s', (_name, schema, value, expected) => {
    expect(check(schema, value)).toContainEqual(expected);
  });

  it('a text too long for a large pattern is refused, not matched for seconds', () => {
    const schema = { pattern: '([a-z]{1,1000})([a-z]{1,500})$' };
    const text = Array.from({ length: 200_000 }, (_, i) =>
      String.fromCharCode(97 + ((i * i * 7 + i) % 26)),
    ).join('');
    expect(check(schema, text)).toEqual([
      { pointer: '', message: 'is too long for what it must be matched or compared with' },
    ]);
    expect(check({ not: schema }, text)).toHaveLength(1);
    expect(check(schema, 'ab')).toEqual([]);
  });

  it('a web address of 256 KiB takes no time to speak of', () => {
    expect(check({ format: 'url' }, `http://${'::'.repeat(128 * 1024)}!`)).toHaveLength(1);
    expect(check({ format: 'url' }, 'https://example.com/a?b=c')).toEqual([]);
  });

  it('a value too deep for a recursive schema is a violation, not a crash', () => {
    let value: object = {};
    for (let level = 0; level < 100_000; level += 1) value = { a: value };
    expect(check({ properties: { a: { $ref: '#' } } }, value)).toEqual([
      { pointer: '', message: 'is nested too deeply to be checked' },
    ]);
  });

  it.each(['{"valueOf":1}', '{"toString":"x"}', '{"constructor":null}'])(
    '%s is refused where objects are compared',
    (text) => {
      const value = JSON.parse(text) as object;
      expect(check({ enum: [{ a: 1 }, JSON.parse('{"toString":1}')] }, value)).toHaveLength(1);
      expect(check({ uniqueItems: true, maxItems: 9 }, [value, structuredClone(value)])).toHaveLength(1);
    },
  );

  it('says that it fills defaults wherever it does', () => {
    for (const schema of [
      { allOf: [{ properties: { a: { default: 1 } } }] },
      { properties: { enum: { properties: { a: { default: 1 } } } } },
      { prefixItems: [{ default: 1 }] },
    ]) {
      expect(createValidator(schema).changesValue).toBe(true);
    }
  });

  it('what is dropped is collected: reloads do not pile up', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const dropped = Array.from({ length: 320 }, (_, index) => {
      const schema = {
        type: 'object',
        properties: { [`p${index}`]: { type: 'string', pattern: `^${index}$` } },
      };
      createValidator(schema).validate({ [`p${index}`]: 'x' });
      return new WeakRef(schema);
    });
    const aliveAfterCollection = async () => {
      await new Promise((resolve) => void setImmediate(resolve));
      collectGarbage();
      return dropped.filter((schema) => schema.deref() !== undefined).length;
    };
    // A collection that had begun before keeps what was made while it went on; the next one does not.
    await aliveAfterCollection();
    expect(await aliveAfterCollection()).toBeLessThanOrEqual(64);
  });
});
