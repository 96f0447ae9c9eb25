// Sensitive values: found wherever the schema may mark them, sealed alike, and scrubbed from everything around them.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sensitiveHider } from './sensitive-values.ts';

const MARKED = { type: 'string', 'x-ute-sensitive': true };
const seal = (text: string) => `<${text}>`;
type Schema = Parameters<typeof sensitiveHider>[0];
type Value = Parameters<ReturnType<typeof sensitiveHider>>[0];
const hide = (schema: object, value: unknown) => sensitiveHider(schema as Schema)(value as Value, seal);

describe('sensitiveHider', () => {
  it('gives back the same value where nothing is marked', async () => {
    const value = { a: { b: [1, 'x'] } };
    expect((await hide({ type: 'object' }, value)).value).toBe(value);
    expect(await hide({ properties: { a: { 'x-ute-sensitive': false } } }, value)).toEqual({
      value,
      secrets: [],
    });
  });

  it.each<[string, object, unknown, unknown]>([
    ['a property', { properties: { key: MARKED } }, { key: 'k', other: 'o' }, { key: '<"k">', other: 'o' }],
    [
      'a property inside',
      { properties: { a: { properties: { key: MARKED } } } },
      { a: { key: 'k' } },
      { a: { key: '<"k">' } },
    ],
    [
      'a whole object, its keys in order',
      { properties: { a: { 'x-ute-sensitive': true } } },
      { a: { y: 1, x: [2] } },
      { a: '<{"x":[2],"y":1}>' },
    ],
    ['every item', { properties: { a: { items: MARKED } } }, { a: ['k', 'l'] }, { a: ['<"k">', '<"l">'] }],
    [
      'an item by its place',
      { properties: { a: { prefixItems: [{}, MARKED] } } },
      { a: ['k', 'l', 'm'] },
      { a: ['k', '<"l">', 'm'] },
    ],
    [
      'an item of draft-07',
      { properties: { a: { items: [{}, MARKED] } } },
      { a: ['k', 'l'] },
      { a: ['k', '<"l">'] },
    ],
    [
      'any other property',
      { properties: { a: {} }, additionalProperties: MARKED },
      { a: 'k', b: 'l' },
      { a: 'k', b: '<"l">' },
    ],
    ['a property by its pattern', { patternProperties: { '^x': MARKED } }, { x1: 'k' }, { x1: '<"k">' }],
    [
      'what a reference leads to',
      { $defs: { 'a/b': MARKED }, properties: { key: { $ref: '#/$defs/a~1b' } } },
      { key: 'k' },
      { key: '<"k">' },
    ],
    [
      'what an anchor leads to',
      { $defs: { s: { $anchor: 'secret', ...MARKED } }, properties: { key: { $ref: '#secret' } } },
      { key: 'k' },
      { key: '<"k">' },
    ],
    [
      'a branch',
      { anyOf: [{ properties: { b: {} } }, { properties: { key: MARKED } }] },
      { key: 'k' },
      { key: '<"k">' },
    ],
    ['a condition', { if: { properties: { key: MARKED } } }, { key: 'k' }, { key: '<"k">' }],
    [
      'a dependent schema',
      { dependentSchemas: { b: { properties: { key: MARKED } } } },
      { key: 'k' },
      { key: '<"k">' },
    ],
    [
      'a schema that holds itself',
      { properties: { key: MARKED, next: { $ref: '#' } } },
      { next: { next: { key: 'k' } } },
      { next: { next: { key: '<"k">' } } },
    ],
  ])('hides %s', async (_what, schema, value, expected) => {
    expect((await hide(schema, value)).value).toEqual(expected);
  });

  it('ends on references that go in a circle', async () => {
    const schema = {
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
      properties: { x: { $ref: '#/$defs/a' }, key: MARKED },
    };
    expect((await hide(schema, { x: 1, key: 'k' })).value).toEqual({ x: 1, key: '<"k">' });
  });

  it('scrubs what it hid from the rest, keys included', async () => {
    const { value, secrets } = await hide(
      { properties: { pin: MARKED } },
      { note: 'pin=hunter22!', pin: 'hunter22', hunter22: 1 },
    );
    expect(value).toEqual({ note: 'pin=[secret]!', pin: '<"hunter22">', '[secret]': 1 });
    expect(secrets).toEqual(['hunter22']);
  });

  it('lets no marked text through, whatever is around it', async () => {
    const schema = { properties: { key: MARKED, rest: {} } };
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 6 }).filter((text) => text.trim().length > 5),
        fc.jsonValue(),
        async (secret, rest) => {
          const { value } = await sensitiveHider(schema as Schema)(
            { key: secret, rest: [rest as Value, secret, { [secret]: secret }] },
            () => '*',
          );
          expect(JSON.stringify(value)).not.toContain(JSON.stringify(secret).slice(1, -1));
        },
      ),
    );
  });
});
