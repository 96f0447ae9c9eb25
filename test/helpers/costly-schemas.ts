// Schemas and the arguments that make the most work of each keyword, as large as a door lets them in.

export interface CostlySchema {
  readonly name: string;
  /** Of the argument `v`. */
  readonly schema: object;
  readonly value: unknown;
  readonly $defs?: object;
}

const many = <Item>(count: number, item: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => item(at));
const named = <Value>(count: number, value: (at: number) => Value): Record<string, Value> =>
  Object.fromEntries(many(count, (at) => [`k${at}`, value(at)]));

const LONG = 'a'.repeat(250_000);
const texts = many(3, () => LONG);
const small = many(45_000, (at) => at);
const objects = many(16_000, (at) => ({ a: at }));
const empties = many(45_000, () => ({}));
const lists = many(20_000, (at) => [at]);
const keyed = named(16_000, (at) => at);
const deep = (levels: number): unknown => (levels === 0 ? many(20_000, (at) => at) : [deep(levels - 1)]);
const names = many(400, (at) => `n${at}`);
const branches = (count: number, branch: (at: number) => object) => many(count, branch);

export const COSTLY_SCHEMAS: readonly CostlySchema[] = [
  { name: 'uniqueItems of objects', schema: { uniqueItems: true }, value: objects },
  { name: 'uniqueItems of lists', schema: { uniqueItems: true, maxItems: 50_000 }, value: lists },
  { name: 'uniqueItems of long texts', schema: { uniqueItems: true }, value: texts },
  {
    name: 'uniqueItems at each level',
    schema: { $ref: '#/$defs/u' },
    value: deep(25),
    $defs: { u: { uniqueItems: true, items: { $ref: '#/$defs/u' } } },
  },
  { name: 'an enum of lists', schema: { items: { enum: many(7_000, (at) => [at]) } }, value: lists },
  { name: 'an enum of numbers', schema: { items: { enum: many(7_000, (at) => -at) } }, value: small },
  {
    name: 'enums of objects in branches',
    schema: { items: { anyOf: branches(100, (at) => ({ enum: [{ a: -at }, { b: at }] })) } },
    value: objects,
  },
  {
    name: 'a large const',
    schema: { items: { not: { const: named(2_000, (at) => at) } } },
    value: many(20, () => named(2_000, (at) => at + 1)),
  },
  { name: 'contains', schema: { contains: { type: 'string' }, maxContains: 3 }, value: small },
  {
    name: 'contains with branches',
    schema: { contains: { anyOf: branches(30, (at) => ({ const: `x${at}` })) } },
    value: small,
  },
  { name: 'minContains', schema: { contains: { type: 'number' }, minContains: 49_000 }, value: small },
  {
    name: 'patternProperties',
    schema: { patternProperties: Object.fromEntries(many(100, (at) => [`^x{1,${at + 9}}y`, {}])) },
    value: keyed,
  },
  {
    name: 'propertyNames',
    schema: { propertyNames: { anyOf: branches(50, (at) => ({ const: `z${at}` })) } },
    value: keyed,
  },
  {
    name: 'propertyNames with a pattern',
    schema: { propertyNames: { pattern: '^(?:k|kk){1,40}[0-9]*$' } },
    value: keyed,
  },
  {
    name: 'additionalProperties',
    schema: { additionalProperties: { anyOf: branches(50, (at) => ({ const: -at - 1 })) } },
    value: keyed,
  },
  {
    name: 'unevaluatedProperties',
    schema: {
      anyOf: branches(50, (at) => ({ properties: { [`k${at}`]: {} } })),
      unevaluatedProperties: { type: 'number' },
    },
    value: keyed,
  },
  {
    name: 'unevaluatedProperties of items',
    schema: {
      items: {
        anyOf: branches(30, (at) => ({ properties: { [`n${at}`]: {} } })),
        unevaluatedProperties: false,
      },
    },
    value: empties,
  },
  {
    name: 'unevaluatedItems',
    schema: {
      anyOf: branches(50, (at) => ({ prefixItems: many(at + 1, () => ({})) })),
      unevaluatedItems: { type: 'string' },
    },
    value: small,
  },
  {
    name: 'dependentSchemas',
    schema: {
      items: { dependentSchemas: Object.fromEntries(many(150, (at) => [`n${at}`, { required: ['x'] }])) },
    },
    value: empties,
  },
  {
    name: 'dependentRequired',
    schema: { items: { dependentRequired: Object.fromEntries(many(90, (at) => [`n${at}`, ['x']])) } },
    value: empties,
  },
  {
    name: 'properties of many small objects',
    schema: { items: { properties: Object.fromEntries(names.map((name) => [name, { type: 'number' }])) } },
    value: empties,
  },
  { name: 'a hundred thousand violations', schema: { items: { type: 'string' } }, value: small },
  { name: 'violations of required', schema: { items: { required: names } }, value: empties },
  {
    name: 'defaults in many objects',
    schema: { items: { properties: { a: { default: many(500, (at) => at) } } } },
    value: empties,
  },
  {
    name: 'branches in branches',
    schema: { items: { anyOf: branches(30, () => ({ anyOf: branches(12, (at) => ({ const: -at - 1 })) })) } },
    value: small,
  },
  {
    name: 'oneOf',
    schema: { items: { oneOf: branches(200, (at) => ({ maximum: -at - 1 })) } },
    value: small,
  },
  {
    name: 'not and if',
    schema: { items: { not: { not: { if: { type: 'string' }, else: { multipleOf: 0.1 } } } } },
    value: small,
  },
  {
    name: 'multipleOf',
    schema: { items: { allOf: branches(100, () => ({ multipleOf: 1 })) } },
    value: small,
  },
  { name: 'a pattern', schema: { items: { pattern: '^(?:a|aa|aaa){1,60}b$' } }, value: texts },
  {
    name: 'patterns in branches',
    schema: { items: { anyOf: branches(60, (at) => ({ pattern: `a{${at + 1},90}b` })) } },
    value: texts,
  },
  {
    name: 'lengths in branches',
    schema: { items: { anyOf: branches(300, () => ({ minLength: 249_999, maxLength: 3 })) } },
    value: many(3, () => '😀'.repeat(62_000)),
  },
  ...[
    'date-time',
    'date',
    'time',
    'duration',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uri',
    'uri-reference',
    'uri-template',
    'url',
    'uuid',
    'json-pointer',
    'regex',
    'byte',
  ].map((format) => ({
    name: `the format ${format}`,
    schema: { items: { anyOf: branches(20, () => ({ format })) } },
    value: [LONG, '('.repeat(250_000), 'http://::'.repeat(27_000)],
  })),
];
