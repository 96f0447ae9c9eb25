// SchemaConverter: what 3.0 says in its own way becomes 2020-12, and whatever it is given, the result is a good schema.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { lintSchema } from '../../lib/json-schema/lint/schema-linter.ts';
import { SchemaConverter, TooLarge } from './convert-schema.ts';
import { Unusable } from './unusable.ts';

function convert(schema: JsonValue, root: JsonObject = {}, limits = { depth: 16, nodes: 500 }) {
  return new SchemaConverter(root, limits).convert(schema, undefined);
}

describe('convert', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      'nullable beside an enum',
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'nullable around a choice',
      { oneOf: [{ type: 'string' }], nullable: true },
      { anyOf: [{ oneOf: [{ type: 'string' }] }, { type: 'null' }] },
    ],
    ['nullable: false', { type: 'string', nullable: false }, { type: 'string' }],
    ['an example', { type: 'string', example: 'x' }, { type: 'string', examples: ['x'] }],
    [
      'exclusiveMinimum: true',
      { type: 'number', minimum: 1, exclusiveMinimum: true },
      { type: 'number', exclusiveMinimum: 1 },
    ],
    ['exclusiveMaximum: false', { maximum: 1, exclusiveMaximum: false }, { maximum: 1 }],
    ['exclusiveMinimum of 3.1', { exclusiveMinimum: 1 }, { exclusiveMinimum: 1 }],
    [
      'a default, which is told and not filled in',
      { type: 'integer', default: 3, description: 'Size' },
      { type: 'integer', description: 'Size (Default: 3)' },
    ],
    [
      'what OpenAPI adds',
      { type: 'object', xml: {}, discriminator: {}, externalDocs: {}, 'x-any': 1 },
      { type: 'object' },
    ],
    ['a pattern that RE2 does not run', { type: 'string', pattern: '(?=a)' }, { type: 'string' }],
    [
      'uniqueItems without a bound',
      { type: 'array', uniqueItems: true },
      { type: 'array', uniqueItems: true },
    ],
    ['an unknown type', { type: 'file' }, {}],
    ['required as a boolean', { type: 'string', required: true }, { type: 'string' }],
    ['a repeated enum', { enum: ['a', 'a'] }, { enum: ['a'] }],
    ['names of other schemas', { $id: 'x', $schema: 'y', $anchor: 'z', type: 'string' }, { type: 'string' }],
    [
      'what only answers hold',
      { properties: { id: { readOnly: true }, a: {} }, required: ['id', 'a'] },
      { properties: { a: {} }, required: ['a'] },
    ],
  ])('turns %s into 2020-12', (_, schema, expected) => {
    expect(convert(schema)).toEqual(expected);
  });

  it('writes references out, and replaces texts beside them', () => {
    const root = { components: { schemas: { a: { type: 'string', description: 'old' } } } };
    const $ref = '#/components/schemas/a';
    expect(convert({ $ref, description: 'new' }, root)).toEqual({ type: 'string', description: 'new' });
    expect(convert({ $ref, minLength: 1 }, root)).toEqual({
      allOf: [{ type: 'string', description: 'old' }, { minLength: 1 }],
    });
  });

  it('cuts at the depth it was given', () => {
    const limits = { depth: 1, nodes: 100 };
    expect(convert({ items: { items: { type: 'string' } } }, {}, limits)).toEqual({ items: { items: {} } });
  });

  it('gives up at the number of sub-schemas it was given', () => {
    expect(() => convert({ anyOf: [{}, {}, {}] }, {}, { depth: 16, nodes: 3 })).toThrow(TooLarge);
  });

  const schemas = fc.letrec<{ schema: JsonValue }>((tie) => ({
    schema: fc.dictionary(
      fc.constantFrom('type', '$ref', 'allOf', 'items', 'properties', 'required', 'nullable', 'enum', 'example',
        'default', 'minimum', 'exclusiveMinimum', 'pattern', 'uniqueItems', 'maxItems', 'additionalProperties',
        'readOnly', 'not', 'format', 'const', 'patternProperties'), // oxfmt-ignore
      fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<JsonValue>('string', 'object', '#/a', '#/b', '#', true, null, 3, -1, '(', ['a']),
        tie('schema'),
        fc.array(tie('schema'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', '(', '^x'), tie('schema'), { maxKeys: 3 }),
      ),
      { maxKeys: 5 },
    ) as fc.Arbitrary<JsonValue>,
  })).schema;

  it('gives a schema that the linter accepts, or a reason', () => {
    fc.assert(
      fc.property(schemas, schemas, schemas, (schema, a, b) => {
        try {
          expect(lintSchema(convert(schema, { a, b }))).toEqual([]);
        } catch (error) {
          if (!(error instanceof Unusable)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});
