// The linter: ordinary schemas pass, and none that passes can hang, crash or fail to compile.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lintSchema } from './schema-linter.ts';
import { createValidator } from '../validator.ts';

const messages = (schema: unknown) =>
  lintSchema(schema).map(({ path, message }) => `${path.join('.')}: ${message}`);

/** A chain of definitions, each naming the next one twice: small to write, 2^n to check. */
function bomb(links: number) {
  const $defs: Record<string, object> = { [`d${links}`]: { type: 'string' } };
  for (let i = 0; i < links; i += 1)
    $defs[`d${i}`] = { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] };
  return { $defs, $ref: '#/$defs/d0' };
}

function patterns(count: number, of: (at: number) => string) {
  const all = Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string', pattern: of(at) }]);
  return { type: 'object', properties: Object.fromEntries(all) };
}

const KEYWORDS = [
  'type',
  '$ref',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'properties',
  'patternProperties',
  'additionalProperties',
  'items',
  'contains',
  'prefixItems',
  'required',
  'enum',
  'const',
  'pattern',
  'minimum',
  'maxItems',
  'uniqueItems',
  '$defs',
  '$id',
  '$anchor',
  '$schema',
  'dependencies',
  'nullable',
  'default',
  'format',
  'a',
];

function propertyBomb(links: number) {
  const $defs: Record<string, object> = { [`d${links}`]: {} };
  for (let i = 0; i < links; i += 1)
    $defs[`d${i}`] = { properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } } };
  return { $defs, $ref: '#/$defs/d0' };
}

/** Schemas of which most pass. */
const wellFormed: fc.Arbitrary<object> = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<object>(
      { type: 'string' },
      { type: ['integer', 'null'] },
      { $ref: '#' },
      { enum: [1, 'a'] },
      { pattern: '^a+$' },
      { format: 'date-time' },
      { type: 'string', nullable: true },
      { $anchor: 'a', type: 'string' },
    ),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('schema') }),
    fc.record({ items: tie('schema'), contains: tie('schema') }),
    fc.record({
      properties: fc.dictionary(fc.constantFrom('a', 'constructor', 'b/c'), tie('schema'), { maxKeys: 3 }),
      required: fc.constant(['a']),
    }),
    fc.record({
      patternProperties: fc.dictionary(fc.constantFrom('^a', '[0-9]{1,3}$'), tie('schema')),
      additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
    }),
  ),
})).schema;

describe('lintSchema', () => {
  it.each([
    [
      'an ordinary object',
      { type: 'object', properties: { a: { type: 'string', pattern: '^a+$' } }, required: ['a'] },
    ],
    [
      'a tree',
      {
        $defs: { node: { properties: { left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } } } },
        $ref: '#/$defs/node',
      },
    ],
    [
      'names of sub-schemas, also two alike',
      {
        $defs: { a: { $anchor: 'a', type: 'string' }, b: { $anchor: 'a' } },
        properties: { $anchor: { $ref: '#/$defs/a' } },
      },
    ],
    [
      'a list of itself',
      { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } },
    ],
    [
      'draft-07',
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items: [{ type: 'string' }] },
    ],
    ['uniqueItems', { type: 'array', uniqueItems: true }],
    [
      'any JSON value, as TypeScript exporters write it',
      {
        $defs: {
          json: {
            anyOf: [
              { type: ['string', 'null'] },
              { type: 'array', items: { $ref: '#/$defs/json' } },
              { type: 'object', additionalProperties: { $ref: '#/$defs/json' } },
            ],
          },
        },
        $ref: '#/$defs/json',
      },
    ],
    [
      'a filter of filters, a branch for each operator',
      {
        $defs: {
          f: {
            oneOf: ['and', 'or', 'not'].map((op) => ({
              properties: { [op]: { $ref: '#/$defs/f' } },
              required: [op],
            })),
          },
        },
        $ref: '#/$defs/f',
      },
    ],
    [
      'a reference to a place that no keyword makes a schema',
      { components: { A: { type: 'string' } }, properties: { a: { $ref: '#/components/A' } } },
    ],
    ['a reference to a boolean schema', { $defs: { any: true }, $ref: '#/$defs/any' }],
    ['references with escapes', { $defs: { 'a b/c~d%': {} }, $ref: '#/$defs/a%20b~1c~0d%25' }],
    [
      'a name for the whole document',
      { $id: 'https://example.com/tool.json', properties: { a: { $ref: '#' } } },
    ],
    [
      'properties called like keywords',
      { properties: { id: { type: 'string' }, $id: {}, $async: {}, pattern: {}, enum: {} } },
    ],
    [
      'dozens of patterns that allow long names',
      patterns(40, (at) => String.raw`^[\w+=,.@-]{1,${200 + at}}$`),
    ],
    ['a property called $ref', { properties: { $ref: { type: 'string' } } }],
  ])('accepts %s', (_name, schema) => {
    expect(messages(schema)).toEqual([]);
  });

  it.each([
    ['no schema', 'hello', /must be a JSON Schema/],
    ['a misspelt type', { type: 'object', properties: { a: { type: 'strnig' } } }, /properties\.a/],
    ['a remote reference', { $ref: 'https://example.com/schema.json' }, /\$ref/],
    ['a dangling reference', { $ref: '#/$defs/nowhere' }, /lead to a schema/],
    ['a dynamic reference', { $dynamicRef: '#x' }, /not supported/],
    ['an unknown dialect', { $schema: 'http://json-schema.org/draft-04/schema#' }, /2020-12 or draft-07/],
    ['a pattern with look-ahead', { type: 'string', pattern: '^(?=a)b' }, /RE2/],
    ['a pattern with a back-reference', { type: 'string', pattern: String.raw`(a)\1` }, /RE2/],
    [
      'hundreds of patterns of hundreds of steps',
      patterns(450, (at) => String.raw`^\p{L}{1,${500 - at}}$`),
      /large patterns/,
    ],
    ['an endless pattern', { type: 'string', pattern: 'a'.repeat(600) }, /512/],
    ['a bomb of references', bomb(25), /too many branches/],
    [
      'a loop that goes nowhere',
      { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' },
      /without an end/,
    ],
    [
      'a recursion that doubles at each level',
      {
        $defs: {
          n: {
            anyOf: [
              { properties: { x: { $ref: '#/$defs/n' } } },
              { properties: { x: { $ref: '#/$defs/n' } } },
            ],
          },
        },
        $ref: '#/$defs/n',
      },
      /too many branches/,
    ],
    [
      'a doubling recursion behind a wide neighbour',
      {
        $defs: {
          n: {
            anyOf: [
              { properties: { x: { $ref: '#/$defs/n' } } },
              { properties: { x: { $ref: '#/$defs/n' } } },
            ],
          },
        },
        properties: {
          wide: { allOf: Array.from({ length: 100 }, (_, minimum) => ({ minimum })) },
          slow: { $ref: '#/$defs/n' },
        },
      },
      /too many branches/,
    ],
    ['a bomb of properties', propertyBomb(25), /too many branches/],
    ['a reference to itself', { $ref: '#' }, /without an end/],
    ['an asynchronous schema, whose promise would count as true', { $async: true }, /^\$async/],
    ['an $id where no keyword makes a schema', { a: { type: { a: { $id: '#' } } } }, /root only/],
    ['an $anchor where no keyword makes a schema', { a: { type: { a: { $anchor: 'a' } } } }, /root only/],
    ['an $anchor that is no name', { properties: { a: { $anchor: '#a' } } }, /must be a name/],
    [
      'a reference to an $anchor',
      { $defs: { a: { $anchor: 'a' } }, properties: { b: { $ref: '#a' } } },
      /\$ref|#\//,
    ],
    ['a nested $id', { properties: { a: { $id: 'https://example.com/' } } }, /root only/],
    ['the id of draft-04', { id: 'x' }, /not a keyword/],
    ['a property called __proto__', JSON.parse('{"properties":{"__proto__":{"default":{}}}}'), /__proto__/],
    [
      'members called valueOf in a list',
      JSON.parse('{"type":[{"valueOf":1},{"valueOf":1}]}'),
      /type: must be one of/,
    ],
    ['nullable without a type', { nullable: true }, /needs type/],
    ['an empty enum', { enum: [] }, /at least one/],
    [
      'a misspelt type behind a reference',
      { components: { A: { type: 'strnig' } }, $ref: '#/components/A' },
      /components\.A\.type/,
    ],
    ['a reference through a prototype', { $ref: '#/constructor' }, /lead to a schema/],
    ['a malformed escape in a reference', { $defs: { '%': {} }, $ref: '#/$defs/%' }, /lead to a schema/],
    [
      'contains with many branches and no bound',
      { contains: { enum: [1], anyOf: Array.from({ length: 100 }, (_, value) => ({ const: value })) } },
      /maxItems/,
    ],
    [
      'more names than Ajv can write code for',
      { dependentRequired: { a: Array.from({ length: 500 }, (_, i) => `p${i}`) } },
      /200/,
    ],
    [
      'too much side by side',
      { properties: Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`p${i}`, {}])) },
      /beside it/,
    ],
    [
      'a wide one',
      { properties: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`p${i}`, {}])) },
      /sub-schemas|beside/,
    ],
    ['a large one', { description: 'x'.repeat(70_000) }, /64 KiB/],
  ])('refuses %s and says why', (_name, schema, expected) => {
    expect(messages(schema).join('\n')).toMatch(expected);
  });

  it('refuses a schema of 5,000 levels without falling over', () => {
    let schema: object = {};
    for (let level = 0; level < 5_000; level += 1) schema = { not: schema };
    expect(messages(schema).join()).toMatch(/deeper/);
  });

  it.each([
    [
      'a loop of objects',
      () => {
        const loop: Record<string, unknown> = {};
        loop['not'] = loop;
        return loop;
      },
    ],
    [
      'aliases that double at each level',
      () => {
        let alias: object = {};
        for (let level = 0; level < 40; level += 1) alias = { properties: { a: alias, b: alias } };
        return alias;
      },
    ],
    [
      'one long text in many places',
      () => ({ examples: Array.from({ length: 30_000 }, () => 'x'.repeat(60_000)) }),
    ],
  ])('refuses %s, small in memory and endless on paper', (_name, make) => {
    expect(messages(make()).join()).toMatch(/deeper|larger/);
  });

  it('names the place with numbers for the items of a list', () => {
    expect(lintSchema({ anyOf: [{}, { type: 'x' }] })).toEqual([
      expect.objectContaining({ path: ['anyOf', 1, 'type'] }),
    ]);
  });

  const anything = fc.letrec((tie) => {
    const leaf = fc.oneof(
      fc.constantFrom<unknown>(true, false, 1, 'string', '#', '#/$defs/a', '^a$', '(', null),
      fc.jsonValue({ maxDepth: 1 }),
    );
    const keyword = fc.constantFrom(...KEYWORDS);
    return {
      schema: fc.dictionary(
        keyword,
        fc.oneof({ maxDepth: 5 }, leaf, tie('schema'), fc.array(tie('schema'), { maxLength: 3 }), tie('map')),
        { maxKeys: 4 },
      ),
      map: fc.dictionary(fc.constantFrom('a', 'b', '^a'), tie('schema'), { maxKeys: 2 }),
    };
  }).schema;

  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.anything({ maxDepth: 4, withBigInt: false })), (schema) => {
        expect(Array.isArray(lintSchema(schema))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('what passes compiles, runs, and answers', () => {
    const schemas = fc.oneof(anything, wellFormed).filter((schema) => lintSchema(schema).length === 0);
    fc.assert(
      fc.property(schemas, fc.jsonValue({ maxDepth: 3 }), (schema, value) => {
        expect(Array.isArray(createValidator(schema as object).validate(structuredClone(value)))).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});
