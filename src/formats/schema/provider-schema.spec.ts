// Provider schemas: golden conversions, and the promise that no argument a tool accepts is refused on the way.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { ownNamesOf, propertySpellings } from '../../lib/json-schema/property-names.ts';
import { createValidator } from '../../lib/json-schema/validator.ts';
import { ANTHROPIC_RULES } from '../anthropic/rules.ts';
import { GEMINI_RULES } from '../gemini/rules.ts';
import { OPENAI_RULES } from '../openai/rules.ts';
import * as provider from './provider-schema.ts';
import { dropStandInNulls } from '../../lib/json-schema/stand-in-nulls.ts';

const RULES = { openai: OPENAI_RULES, anthropic: ANTHROPIC_RULES, gemini: GEMINI_RULES };
const toProviderSchema = (schema: JsonSchema, name: keyof typeof RULES, strict = false) =>
  provider.toProviderSchema(schema, RULES[name], strict);

const order: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    sku: { type: 'string', pattern: '^[A-Z]+$', minLength: 2, description: 'Article.' },
    qty: { type: 'integer', minimum: 1, exclusiveMaximum: 100 },
    speed: { enum: ['slow', 'fast'] },
    to: { $ref: '#/$defs/Address', description: 'Where to' },
    lines: {
      type: 'array',
      minItems: 2,
      uniqueItems: true,
      items: { type: 'object', properties: { note: { const: 'x' } }, additionalProperties: false },
    },
    target: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
  },
  required: ['sku', 'to'],
  additionalProperties: false,
  $defs: {
    Address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

describe('toProviderSchema', () => {
  it('gives OpenAI and Anthropic the whole schema when it is not strict', () => {
    const { $schema: _dialect, ...whole } = order;
    expect(toProviderSchema(order, 'openai')).toEqual({ schema: whole, lossy: [], strict: false });
    expect(toProviderSchema(order, 'anthropic')).toEqual({ schema: whole, lossy: [], strict: false });
  });

  it('writes OpenAI strict: all required, optional by null, objects closed, the rest told in words', () => {
    expect(toProviderSchema(order, 'openai', true)).toEqual({
      schema: {
        type: 'object',
        properties: {
          sku: { type: 'string', pattern: '^[A-Z]+$', description: 'Article. (minLength: 2)' },
          qty: { type: ['integer', 'null'], minimum: 1, exclusiveMaximum: 100 },
          speed: { type: ['string', 'null'], enum: ['slow', 'fast', null] },
          to: { anyOf: [{ $ref: '#/$defs/Address' }], description: 'Where to' },
          lines: {
            type: ['array', 'null'],
            minItems: 2,
            description: '(uniqueItems: true)',
            items: {
              type: 'object',
              properties: { note: { type: ['string', 'null'], enum: ['x', null] } },
              required: ['note'],
              additionalProperties: false,
            },
          },
          target: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
        },
        required: ['sku', 'qty', 'speed', 'to', 'lines', 'target'],
        additionalProperties: false,
        $defs: {
          Address: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
        },
      },
      lossy: ['/properties/sku/minLength', '/properties/lines/uniqueItems'],
      strict: true,
    });
  });

  it('writes Anthropic strict: objects closed, optional properties kept optional, limits told in words', () => {
    const { schema, strict } = toProviderSchema(order, 'anthropic', true);
    expect(strict).toBe(true);
    expect(schema['required']).toEqual(['sku', 'to']);
    expect(schema['properties']).toMatchObject({
      sku: { type: 'string', description: 'Article. (pattern: "^[A-Z]+$", minLength: 2)' },
      qty: { type: 'integer', description: '(minimum: 1, exclusiveMaximum: 100)' },
      speed: { type: 'string', enum: ['slow', 'fast'] },
      lines: { description: '(minItems: 2, uniqueItems: true)', items: { additionalProperties: false } },
    });
    expect(schema['$defs']).toMatchObject({ Address: { additionalProperties: false } });
  });

  it('writes the Gemini subset and lists what it lost', () => {
    expect(toProviderSchema(order, 'gemini', true)).toEqual({
      schema: {
        type: 'object',
        properties: {
          sku: { type: 'string', description: 'Article. (pattern: "^[A-Z]+$", minLength: 2)' },
          qty: { type: 'integer', minimum: 1, description: '(exclusiveMaximum: 100)' },
          speed: { type: 'string', enum: ['slow', 'fast'] },
          to: { anyOf: [{ $ref: '#/$defs/Address' }], description: 'Where to' },
          lines: {
            type: 'array',
            minItems: 2,
            description: '(uniqueItems: true)',
            items: {
              type: 'object',
              properties: { note: { type: 'string', enum: ['x'] } },
              additionalProperties: false,
            },
          },
          target: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        },
        required: ['sku', 'to'],
        additionalProperties: false,
        $defs: order['$defs'],
      },
      lossy: [
        '/properties/sku/pattern',
        '/properties/sku/minLength',
        '/properties/qty/exclusiveMaximum',
        '/properties/lines/uniqueItems',
      ],
      strict: false,
    });
  });

  it.each<[string, JsonSchema]>([
    ['a free-form object', { properties: { data: { type: 'object' } } }],
    ['a map', { properties: { data: { type: 'object', additionalProperties: { type: 'string' } } } }],
    ['an open root', { properties: {}, additionalProperties: true }],
    ['keys by pattern', { properties: {}, patternProperties: { '^x-': { type: 'string' } } }],
    ['an array without items', { properties: { list: { type: 'array' } } }],
    [
      'a tuple',
      {
        properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'string' } } },
      },
    ],
    ['a part of any type', { properties: { any: { description: 'Whatever' } } }],
    [
      'conditions that name more properties',
      { properties: {}, dependentSchemas: { a: { properties: { b: {} } } } },
    ],
  ])('goes without strict mode for %s', (_what, schema) => {
    expect(toProviderSchema(schema, 'openai', true).strict).toBe(false);
    expect(toProviderSchema(schema, 'anthropic', true).strict).toBe(false);
  });

  it('folds alternatives at the root into one object', () => {
    const { schema, lossy } = toProviderSchema(
      {
        oneOf: [
          {
            type: 'object',
            properties: { kind: { const: 'mail' }, to: { type: 'string' } },
            required: ['kind', 'to'],
          },
          {
            type: 'object',
            properties: { kind: { const: 'sms' }, number: { type: 'string' } },
            required: ['kind'],
          },
        ],
      },
      'anthropic',
    );
    expect(lossy).toEqual(['/oneOf']);
    expect(schema).toEqual({
      type: 'object',
      description: '(the arguments take one of several forms)',
      properties: {
        kind: { type: 'string', enum: ['mail', 'sms'] },
        to: { type: 'string' },
        number: { type: 'string' },
      },
      required: ['kind'],
    });
  });

  it('puts a reference at the root and parts of allOf in their place', () => {
    const args: JsonSchema = {
      $ref: '#/$defs/Args',
      $defs: { Args: { allOf: [{ properties: { a: { type: 'string' } } }, { required: ['a'] }] } },
    };
    expect(toProviderSchema(args, 'openai').schema).toMatchObject({
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
    });
  });

  it('writes a draft-07 tuple in 2020-12', () => {
    const tuple: JsonSchema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: {
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
      },
    };
    expect(toProviderSchema(tuple, 'anthropic').schema['properties']).toEqual({
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
    });
  });

  it('leaves the schema it was given as it was', () => {
    const before = structuredClone(order);
    for (const provider of ['openai', 'anthropic', 'gemini'] as const)
      toProviderSchema(order, provider, true);
    expect(order).toEqual(before);
  });

  it('keeps a property named __proto__ a property', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string","minLength":1}}}') as JsonSchema;
    for (const strict of [true, false]) {
      const { properties } = toProviderSchema(schema, 'openai', strict).schema;
      expect(Object.keys(isJsonObject(properties) ? properties : {})).toEqual(['__proto__']);
    }
  });
});

/** A schema and a value that it accepts, made together. */
interface Sample {
  readonly schema: JsonSchema;
  readonly value: JsonValue;
  /** The value under other names of its properties; left out where it has none. */
  readonly said?: (spell: Spell) => JsonValue;
}

type Spell = (name: string) => string;
const saidOf = ({ value, said }: Sample, spell: Spell) => said?.(spell) ?? value;

const word = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-'), minLength: 1, maxLength: 6 });

const text: fc.Arbitrary<Sample> = word.map((value) => ({
  schema: { type: 'string', minLength: 1, maxLength: 6, pattern: '^[ab1-]+$', default: 'a' },
  value,
}));
const numeral: fc.Arbitrary<Sample> = fc.integer({ min: -5, max: 5 }).map((value) => ({
  schema: { type: 'integer', minimum: -5, exclusiveMaximum: 6, multipleOf: 1 },
  value,
}));
const choice: fc.Arbitrary<Sample> = fc
  .uniqueArray(word, { minLength: 1, maxLength: 3 })
  .chain((values) => fc.constantFrom(...values).map((value) => ({ schema: { enum: values }, value })));
const constant: fc.Arbitrary<Sample> = word.map((value) => ({ schema: { const: value }, value }));
const moment: fc.Arbitrary<Sample> = fc.constant({
  schema: { type: 'string', format: 'date-time' },
  value: '2026-01-27T14:35:00Z',
});
const maybe: fc.Arbitrary<Sample> = fc.constantFrom<JsonValue>(true, null).map((value) => ({
  schema: { type: ['boolean', 'null'] },
  value,
}));
const referred: fc.Arbitrary<Sample> = fc
  .constantFrom<JsonValue>({ city: 'a' }, { city: 'b', zip: 'c' })
  .map((value) => ({ schema: { $ref: '#/$defs/Address', description: 'Where' }, value }));
const leaf = fc.oneof(text, numeral, choice, constant, moment, maybe, referred);

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.oneof(
      tie('sample').map((item): Sample => ({
        schema: { type: 'array', items: item.schema, uniqueItems: true },
        value: [item.value],
        said: (spell) => [saidOf(item, spell)],
      })),
      tie('sample').map((one): Sample => ({
        ...one,
        schema: { oneOf: [one.schema, { const: 'no such value' }] },
      })),
      tie('sample').map((first): Sample => ({
        schema: { type: 'array', prefixItems: [first.schema], items: { type: 'boolean' } },
        value: [first.value, true],
        said: (spell) => [saidOf(first, spell), true],
      })),
      tie('sample').map((member): Sample => ({
        schema: { type: 'object', patternProperties: { '^x-': member.schema }, additionalProperties: false },
        value: { 'x-a': member.value },
        said: (spell) => ({ 'x-a': saidOf(member, spell) }),
      })),
      fc.tuple(objectOf(tie('sample')), objectOf(tie('sample')), fc.boolean()).map(eitherOf),
      objectOf(tie('sample')),
    ),
  ),
}));

function objectOf(property: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const entry = fc.record({ property, required: fc.boolean(), present: fc.boolean() });
  return fc
    .tuple(fc.dictionary(word, entry, { maxKeys: 4 }), fc.boolean(), fc.boolean())
    .map(([entries, closed, throughAllOf]): Sample => {
      const all = Object.entries(entries);
      const properties = Object.fromEntries(all.map(([name, { property }]) => [name, property.schema]));
      const required = all.filter(([, { required }]) => required).map(([name]) => name);
      const present = all.filter(([, one]) => one.required || one.present);
      const said = (spell: Spell) =>
        Object.fromEntries(present.map(([name, { property }]) => [spell(name), saidOf(property, spell)]));
      const value = said((name) => name);
      const whole: JsonSchema = { type: 'object', properties, required };
      if (closed) return { schema: { ...whole, additionalProperties: false }, value, said };
      return throughAllOf
        ? { schema: { type: 'object', allOf: [{ properties }, { required }] }, value, said }
        : { schema: whole, value, said };
    });
}

/** One of two objects, told apart by their kinds: what the one requires, the other may leave out. */
function eitherOf([left, right, isLeft]: [Sample, Sample, boolean]): Sample {
  const ofKind = ({ schema }: Sample, kind: string): JsonSchema => ({
    type: 'object',
    properties: { kind: { const: kind }, it: schema, only: isJsonObject(schema) ? { type: 'boolean' } : {} },
    required: kind === 'left' ? ['kind', 'it'] : ['kind'],
  });
  const kind = isLeft ? 'left' : 'right';
  const own = isLeft ? left : right;
  return {
    schema: { anyOf: [ofKind(left, 'left'), ofKind(right, 'right')] },
    value: { kind, it: own.value },
    said: (spell) => ({ kind, it: saidOf(own, spell) }),
  };
}

const argumentsSample = objectOf(sample).map(({ schema, value, said }) => ({
  said: said ?? (() => value),
  schema: {
    ...schema,
    $defs: {
      Address: {
        type: 'object',
        properties: { city: { type: 'string', maxLength: 9 }, zip: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      },
    },
  } satisfies JsonSchema,
  value: value as JsonObject,
}));

/** As the provider's model writes a name. */
function spellFor(name: keyof typeof RULES, schema: JsonSchema): Spell {
  const { propertyName } = RULES[name];
  const spellings = propertySpellings(schema);
  return (own) => (propertyName?.test(own) === false ? (spellings.get(own) ?? own) : own);
}

/** Of a copy, because validation fills in defaults. */
function violations(schema: JsonSchema, value: JsonValue) {
  return createValidator(schema).validate(structuredClone(value));
}

describe('toProviderSchema, for any schema and any value it accepts', () => {
  it.each(['openai', 'anthropic', 'gemini'] as const)('keeps the value valid for %s', (provider) => {
    fc.assert(
      fc.property(argumentsSample, ({ schema, value, said }) => {
        expect(violations(schema, value)).toEqual([]);
        const converted = toProviderSchema(schema, provider);
        const spelt = said(spellFor(provider, schema));
        expect(violations(converted.schema, spelt)).toEqual([]);
        expect(ownNamesOf(schema)?.(spelt as JsonObject).args ?? spelt).toEqual(value);
      }),
    );
  });

  it('keeps the value valid under Anthropic strict', () => {
    fc.assert(
      fc.property(argumentsSample, ({ schema, value }) => {
        const converted = toProviderSchema(schema, 'anthropic', true);
        expect(violations(converted.schema, value)).toEqual([]);
      }),
    );
  });

  it('keeps the value expressible under OpenAI strict, with null for what is absent, and reads it back', () => {
    fc.assert(
      fc.property(argumentsSample, ({ schema, value }) => {
        const converted = toProviderSchema(schema, 'openai', true);
        const said = converted.strict ? withNulls(value, converted.schema, converted.schema) : value;
        expect(violations(converted.schema, said)).toEqual([]);
        const readBack = dropStandInNulls(said as JsonObject, schema);
        expect(violations(schema, readBack)).toEqual([]);
        expect(withoutNulls(readBack)).toEqual(withoutNulls(value));
      }),
    );
  });

  it('makes most of these schemas strict, so that the properties above say something', () => {
    const samples = fc.sample(argumentsSample, 200);
    const strict = samples.filter(({ schema }) => toProviderSchema(schema, 'openai', true).strict);
    expect(strict.length).toBeGreaterThan(40);
  });
});

/** The value as a model in strict mode says it: every declared property, absent ones as null. */
function withNulls(value: JsonValue, schema: JsonValue | undefined, root: JsonSchema): JsonValue {
  if (!isJsonObject(schema)) return value;
  if (schema['$ref'] !== undefined) return withNulls(value, definition(root, 'Address'), root);
  const alternatives = schema['anyOf'];
  if (Array.isArray(alternatives)) return withNulls(value, alternativeFor(value, alternatives), root);
  if (Array.isArray(value)) return value.map((part) => withNulls(part, schema['items'], root));
  const { properties } = schema;
  if (!isJsonObject(value) || !isJsonObject(properties)) return value;
  return Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [
      name,
      Object.hasOwn(value, name) ? withNulls(value[name] ?? null, part, root) : null,
    ]),
  );
}

/** The one of the value's kind, or the first. */
function alternativeFor(value: JsonValue, alternatives: readonly JsonValue[]): JsonValue | undefined {
  const kind = isJsonObject(value) ? value['kind'] : undefined;
  const ofKind = (schema: JsonValue) => {
    const { properties } = isJsonObject(schema) ? schema : {};
    const said = isJsonObject(properties) ? properties['kind'] : undefined;
    return isJsonObject(said) && said['const'] === kind;
  };
  return alternatives.find((each) => typeof kind === 'string' && ofKind(each)) ?? alternatives[0];
}

function definition(root: JsonSchema, name: string): JsonValue | undefined {
  return isJsonObject(root['$defs']) ? root['$defs'][name] : undefined;
}

/** What the value says apart from null properties: an optional one that may be null is null or absent alike. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(entries.map(([name, part]) => [name, withoutNulls(part)]));
}
