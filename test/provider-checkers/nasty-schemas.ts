// Schemas that some provider refuses, misreads or loses something of, each with arguments that it takes.
import type { JsonObject, JsonSchema } from '../../src/contract/json.ts';

export interface NastySchema {
  readonly what: string;
  readonly schema: JsonSchema;
  /** Arguments that it takes. */
  readonly args: JsonObject;
  /** The same as a model in OpenAI's strict mode says them, where it can be strict: null for what is left out. */
  readonly said?: JsonObject;
}

const text = { type: 'string' };
const properties = (props: JsonObject, more: JsonObject = {}): JsonSchema => ({
  type: 'object',
  properties: props,
  ...more,
});
const closed = { additionalProperties: false };

/** As text: an object with a member of that name would look like a promise. */
const CONDITION = JSON.parse(`{
  "type": "object",
  "properties": { "kind": { "type": "string" }, "level": { "type": "integer" } },
  "if": { "properties": { "kind": { "const": "x" } } },
  "then": { "required": ["level"] },
  "else": {}
}`) as JsonSchema;

const NAMES: readonly NastySchema[] = [
  ['brackets', 'filter[name]'],
  ['a dollar sign', '$filter'],
  ['an at sign', '@type'],
  ['a plus sign and a digit', '+1'],
  ['a space', 'first name'],
  ['a slash', 'a/b'],
  ['a tilde', 'a~b'],
  ['a colon', 'xml:lang'],
  ['a hyphen', 'X-Request-Id'],
  ['a dot', 'user.name'],
  ['a digit in front', '2fa'],
  ['another alphabet', 'имя'],
  ['another script', '名前'],
  ['an emoji', '🚀'],
  ['65 letters', 'n'.repeat(65)],
  ['nothing', ''],
  ['a quote', 'say "hi"'],
  ['a line break', 'two\nlines'],
].map(([what = '', name = '']) => ({
  what: `a property whose name has ${what}`,
  schema: properties({ [name]: text, plain: text }, { required: [name], ...closed }),
  args: { [name]: 'v' },
  said: { [name]: 'v', plain: null },
}));

const CLASHES: readonly NastySchema[] = [
  {
    what: 'keywords of another type than its own',
    schema: properties({ t: { type: 'string', additionalProperties: text, items: text } }, { ...closed }),
    args: { t: 'x' },
  },
  {
    what: 'two names that would be written alike',
    schema: properties({ 'a-b': text, 'a.b': text, a_b: text }, closed),
    args: { 'a-b': '1', 'a.b': '2', a_b: '3' },
  },
  {
    what: 'names that differ behind the 64th letter',
    schema: properties({ [`${'x'.repeat(70)}1`]: text, [`${'x'.repeat(70)}2`]: text }),
    args: { [`${'x'.repeat(70)}1`]: '1', [`${'x'.repeat(70)}2`]: '2' },
  },
  {
    what: 'refused names in objects of a list, and required',
    schema: properties({
      rows: { type: 'array', items: properties({ 'col[0]': text, ok: text }, { required: ['col[0]'] }) },
    }),
    args: { rows: [{ 'col[0]': 'x' }, { 'col[0]': 'y', ok: 'z' }] },
    said: {
      rows: [
        { 'col[0]': 'x', ok: null },
        { 'col[0]': 'y', ok: 'z' },
      ],
    },
  },
  {
    what: 'a refused name behind a reference',
    schema: properties(
      { to: { $ref: '#/$defs/Address' } },
      { $defs: { Address: properties({ 'zip-code': text }, { required: ['zip-code'] }) } },
    ),
    args: { to: { 'zip-code': '3000' } },
  },
  {
    what: 'names of sub-schemas',
    schema: properties(
      { to: { $ref: '#/$defs/Address' } },
      { $anchor: 'root', $defs: { Address: { $anchor: 'address', ...properties({ zip: text }) } } },
    ),
    args: { to: { zip: '3000' } },
  },
  {
    what: 'a refused name in one alternative alone',
    schema: properties({
      it: {
        anyOf: [
          properties({ 'a-b': text }, { required: ['a-b'], ...closed }),
          properties({ c: text }, closed),
        ],
      },
    }),
    args: { it: { 'a-b': 'x' } },
  },
  {
    what: 'a refused name as a key of a map beside',
    schema: properties({
      'a-b': text,
      tags: { type: 'object', additionalProperties: text },
    }),
    args: { 'a-b': 'x', tags: { a_b: 'kept', 'x y': 'kept' } },
  },
  {
    what: 'refused names that depend on each other',
    schema: properties(
      { 'card[no]': text, 'card[cvc]': text },
      { dependentRequired: { 'card[no]': ['card[cvc]'] } },
    ),
    args: { 'card[no]': '1', 'card[cvc]': '2' },
  },
  {
    what: 'a refused name that propertyNames allows',
    schema: properties({ 'x-a': text }, { propertyNames: { pattern: '^x-' } }),
    args: { 'x-a': 'v' },
  },
  {
    what: 'a property called properties, one called required, one called $ref',
    schema: properties({ properties: text, required: text, $ref: text, type: text, items: text }),
    args: { properties: 'a', required: 'b', $ref: 'c', type: 'd', items: 'e' },
  },
];

const ARRAYS: readonly NastySchema[] = [
  {
    what: 'an array without items',
    schema: properties({ list: { type: 'array' } }),
    args: { list: [1, 'a'] },
  },
  {
    what: 'a nullable array without items',
    schema: properties({ list: { type: ['array', 'null'] } }),
    args: { list: null },
  },
  {
    what: 'an array of arrays without items',
    schema: properties({ rows: { type: 'array', items: { type: 'array' } } }),
    args: { rows: [[1], []] },
  },
  {
    what: 'items that are true',
    schema: properties({ list: { type: 'array', items: true } }),
    args: { list: [1] },
  },
  {
    what: 'items that are false',
    schema: properties({ none: { type: 'array', items: false } }),
    args: { none: [] },
  },
  {
    what: 'a tuple of 2020-12',
    schema: properties({ pair: { type: 'array', prefixItems: [text, { type: 'number' }], items: false } }),
    args: { pair: ['a', 1] },
  },
  {
    what: 'a tuple of draft-07',
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...properties({ pair: { type: 'array', items: [text, text], additionalItems: false } }),
    },
    args: { pair: ['a', 'b'] },
  },
  {
    what: 'a list of different things, with bounds',
    schema: properties({
      list: { type: 'array', minItems: 1, maxItems: 9, uniqueItems: true, contains: text, items: {} },
    }),
    args: { list: ['a', 1] },
  },
];

const UNIONS: readonly NastySchema[] = [
  {
    what: 'an optional argument of one alternative that another requires',
    schema: properties(
      {
        to: {
          anyOf: [
            properties({ kind: { const: 'mail' }, note: text }, { required: ['kind'], ...closed }),
            properties({ kind: { const: 'sms' }, note: text }, { required: ['kind', 'note'], ...closed }),
          ],
        },
      },
      { required: ['to'], ...closed },
    ),
    args: { to: { kind: 'mail' } },
    said: { to: { kind: 'mail', note: null } },
  },
  {
    what: 'an optional argument of one alternative that may be null in another',
    schema: properties(
      {
        to: {
          oneOf: [
            properties({ kind: { const: 'a' }, note: text }, { required: ['kind'], ...closed }),
            properties(
              { kind: { const: 'b' }, note: { type: ['string', 'null'] } },
              { required: ['kind', 'note'], ...closed },
            ),
          ],
        },
      },
      { required: ['to'], ...closed },
    ),
    args: { to: { kind: 'a' } },
    said: { to: { kind: 'a', note: null } },
  },
  {
    what: 'a null that is meant, in the alternative where it is required',
    schema: properties(
      {
        to: {
          anyOf: [
            properties({ kind: { const: 'a' }, note: text }, { required: ['kind'], ...closed }),
            properties(
              { kind: { const: 'b' }, note: { type: ['string', 'null'] }, more: text },
              { required: ['kind', 'note'], ...closed },
            ),
          ],
        },
      },
      { required: ['to'], ...closed },
    ),
    args: { to: { kind: 'b', note: null } },
    said: { to: { kind: 'b', note: null, more: null } },
  },
  {
    what: 'alternatives in a list, each with optional arguments',
    schema: properties(
      {
        steps: {
          type: 'array',
          items: {
            anyOf: [
              properties({ wait: { type: 'integer' }, why: text }, { required: ['wait'], ...closed }),
              properties({ call: text, with: { type: 'boolean' } }, { required: ['call'], ...closed }),
            ],
          },
        },
      },
      { required: ['steps'], ...closed },
    ),
    args: { steps: [{ wait: 1 }, { call: 'x' }, { call: 'y', with: true }] },
    said: {
      steps: [
        { wait: 1, why: null },
        { call: 'x', with: null },
        { call: 'y', with: true },
      ],
    },
  },
  {
    what: 'alternatives inside of alternatives',
    schema: properties(
      {
        it: {
          anyOf: [
            text,
            {
              anyOf: [
                properties({ deep: text, more: text }, { required: ['deep'], ...closed }),
                { type: 'integer' },
              ],
            },
          ],
        },
      },
      { required: ['it'], ...closed },
    ),
    args: { it: { deep: 'x' } },
    said: { it: { deep: 'x', more: null } },
  },
  {
    what: 'alternatives at the root',
    schema: {
      type: 'object',
      oneOf: [
        properties({ kind: { const: 'mail' }, 'to-address': text }, { required: ['kind', 'to-address'] }),
        properties({ kind: { const: 'sms' }, number: text }, { required: ['kind'] }),
      ],
    },
    args: { kind: 'mail', 'to-address': 'a@b.c' },
  },
  {
    what: 'alternatives at the root that only require',
    schema: properties({ id: text, name: text }, { anyOf: [{ required: ['id'] }, { required: ['name'] }] }),
    args: { name: 'x' },
  },
  {
    what: 'required names that only an alternative below declares',
    schema: properties({ it: { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] } }),
    args: { it: { b: 1 } },
  },
  {
    what: 'allOf of references',
    schema: {
      type: 'object',
      allOf: [{ $ref: '#/$defs/Page' }, properties({ q: text }, { required: ['q'] })],
      $defs: { Page: properties({ 'page[size]': { type: 'integer' } }) },
    },
    args: { q: 'x', 'page[size]': 5 },
  },
  {
    what: 'allOf below the root that contradicts itself in words only',
    schema: properties({
      n: {
        allOf: [
          { type: 'integer', minimum: 1 },
          { minimum: 2, description: 'Two.' },
        ],
      },
    }),
    args: { n: 3 },
  },
  {
    what: 'if, then and else',
    schema: CONDITION,
    args: { kind: 'x', level: 1 },
  },
  {
    what: 'not, at the root and below',
    schema: properties({ a: { not: { type: 'null' } } }, { not: { required: ['b'] } }),
    args: { a: 1 },
  },
];

const CYCLES: readonly NastySchema[] = [
  {
    what: 'a tree by $defs',
    schema: properties(
      { root: { $ref: '#/$defs/Node' } },
      {
        required: ['root'],
        $defs: {
          Node: properties(
            { label: text, children: { type: 'array', items: { $ref: '#/$defs/Node' } } },
            { required: ['label'], ...closed },
          ),
        },
      },
    ),
    args: { root: { label: 'a', children: [{ label: 'b' }] } },
    said: { root: { label: 'a', children: [{ label: 'b', children: null }] } },
  },
  {
    what: 'a tree whose children are required',
    schema: properties(
      { root: { $ref: '#/$defs/Node' } },
      {
        $defs: {
          Node: properties(
            { label: text, children: { type: 'array', items: { $ref: '#/$defs/Node' } } },
            { required: ['label', 'children'] },
          ),
        },
      },
    ),
    args: { root: { label: 'a', children: [] } },
  },
  {
    what: 'a schema that leads back to its root',
    schema: properties({ name: text, next: { $ref: '#' } }, { required: ['name'], ...closed }),
    args: { name: 'a', next: { name: 'b' } },
    said: { name: 'a', next: { name: 'b', next: null } },
  },
  {
    what: 'two definitions that lead to each other',
    schema: properties(
      { a: { $ref: '#/$defs/A' } },
      {
        $defs: {
          A: properties({ b: { $ref: '#/$defs/B' } }, { required: ['b'] }),
          B: properties({ a: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] } }, { required: ['a'] }),
        },
      },
    ),
    args: { a: { b: { a: null } } },
  },
  {
    what: 'an expression of alternatives that lead back',
    schema: properties(
      { where: { $ref: '#/$defs/Expr' } },
      {
        required: ['where'],
        ...closed,
        $defs: {
          Expr: {
            anyOf: [
              properties(
                { and: { type: 'array', items: { $ref: '#/$defs/Expr' } } },
                { required: ['and'], ...closed },
              ),
              properties(
                { field: text, eq: text, not: { type: 'boolean' } },
                { required: ['field', 'eq'], ...closed },
              ),
            ],
          },
        },
      },
    ),
    args: { where: { and: [{ field: 'a', eq: 'b' }] } },
    said: { where: { and: [{ field: 'a', eq: 'b', not: null }] } },
  },
  {
    what: 'a definition that nobody uses and that leads back to itself',
    schema: properties(
      { a: text },
      { required: ['a'], ...closed, $defs: { Loop: properties({ loop: { $ref: '#/$defs/Loop' } }) } },
    ),
    args: { a: 'x' },
    said: { a: 'x' },
  },
  {
    what: 'a reference to a property',
    schema: properties({
      'from-date': { type: 'string', format: 'date' },
      to: { $ref: '#/properties/from-date' },
    }),
    args: { 'from-date': '2026-01-01', to: '2026-01-02' },
  },
  {
    what: 'a reference into definitions of draft-07, with an escaped name',
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...properties(
        { a: { $ref: '#/definitions/x~1y' } },
        { definitions: { 'x/y': properties({ b: text }) } },
      ),
    },
    args: { a: { b: 'c' } },
  },
];

const VALUES: readonly NastySchema[] = [
  {
    what: 'an enum of numbers',
    schema: properties({ level: { enum: [1, 2, 3] } }, { required: ['level'], ...closed }),
    args: { level: 2 },
    said: { level: 2 },
  },
  {
    what: 'an enum of integers with its type',
    schema: properties({ level: { type: 'integer', enum: [1, 2] } }),
    args: { level: 1 },
  },
  {
    what: 'an enum of texts and null',
    schema: properties({ unit: { enum: ['c', 'f', null] } }, { required: ['unit'], ...closed }),
    args: { unit: null },
    said: { unit: null },
  },
  {
    what: 'a nullable enum with its types',
    schema: properties(
      { unit: { type: ['string', 'null'], enum: ['c', null] } },
      { required: ['unit'], ...closed },
    ),
    args: { unit: null },
    said: { unit: null },
  },
  {
    what: 'an enum of everything',
    schema: properties({ any: { enum: [1, 'a', true, null] } }),
    args: { any: true },
  },
  {
    what: 'an enum of objects',
    schema: properties({ size: { enum: [{ w: 1, h: 2 }, [3]] } }),
    args: { size: { w: 1, h: 2 } },
  },
  { what: 'a constant number', schema: properties({ v: { const: 7 } }), args: { v: 7 } },
  { what: 'a constant null', schema: properties({ v: { const: null } }), args: { v: null } },
  { what: 'a boolean as a constant', schema: properties({ v: { const: true } }), args: { v: true } },
  {
    what: 'an enum of a thousand and one values',
    schema: properties({ v: { enum: Array.from({ length: 1_001 }, (_, at) => `value_${at}`) } }),
    args: { v: 'value_1' },
  },
  {
    what: 'an enum of 300 long texts',
    schema: properties({ v: { enum: Array.from({ length: 300 }, (_, at) => `${at}${'x'.repeat(100)}`) } }),
    args: { v: `1${'x'.repeat(100)}` },
  },
];

const OBJECTS: readonly NastySchema[] = [
  { what: 'no properties at all', schema: { type: 'object' }, args: {} },
  { what: 'nothing', schema: {}, args: {} },
  {
    what: 'required names that nobody declares',
    schema: { type: 'object', required: ['a'] },
    args: { a: 1 },
  },
  {
    what: 'a property that is true, and one that is false',
    schema: properties({ any: true, never: false }),
    args: { any: 1 },
  },
  {
    what: 'a property of which nothing is said',
    schema: properties({ any: {}, told: { description: 'Whatever.' } }),
    args: { any: { a: [1] }, told: null },
  },
  {
    what: 'a map of lists',
    schema: properties({ map: { type: 'object', additionalProperties: { type: 'array' } } }),
    args: { map: { a: [1] } },
  },
  {
    what: 'keys by pattern',
    schema: properties({}, { patternProperties: { '^x-': text }, ...closed }),
    args: { 'x-a': 'b' },
  },
  {
    what: 'OpenAPI’s nullable',
    schema: properties(
      { a: { type: 'string', nullable: true }, b: { type: 'array', nullable: true } },
      { required: ['a'] },
    ),
    args: { a: null, b: null },
  },
  {
    what: 'several types with keywords of each',
    schema: properties(
      {
        v: {
          type: ['string', 'array', 'object', 'null'],
          format: 'uuid',
          items: text,
          properties: { a: text },
          ...closed,
        },
      },
      { required: ['v'], ...closed },
    ),
    args: { v: ['a'] },
    said: { v: ['a'] },
  },
  {
    what: 'every bound there is',
    schema: properties({
      s: { type: 'string', minLength: 1, maxLength: 9, pattern: '^a', format: 'hostname' },
      n: { type: 'number', exclusiveMinimum: 0, maximum: 9, multipleOf: 0.5 },
      o: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: text },
    }),
    args: { s: 'a', n: 1.5, o: { a: 'b' } },
  },
  {
    what: 'a format that nobody knows, default, examples and comments',
    schema: properties(
      {
        a: { type: 'string', format: 'x-card', default: 'd', examples: ['e'], $comment: 'c', readOnly: true },
      },
      { required: ['a'], ...closed },
    ),
    args: { a: 'x' },
    said: { a: 'x' },
  },
  {
    what: 'dependencies of draft-07',
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...properties({ a: text, b: text }, { dependencies: { a: ['b'], b: { properties: { c: text } } } }),
    },
    args: { a: '1', b: '2', c: '3' },
  },
  {
    what: 'eleven levels of objects',
    schema: Array.from({ length: 11 }).reduce<JsonObject>(
      (inner) => properties({ in: inner }, closed),
      properties({ end: text }, closed),
    ),
    args: { in: { in: { in: {} } } },
  },
  {
    what: 'thirty optional properties and twenty unions',
    schema: properties(
      Object.fromEntries(
        Array.from({ length: 30 }, (_, at) => [`p${at}`, at < 20 ? { type: ['string', 'null'] } : text]),
      ),
      closed,
    ),
    args: { p1: 'a' },
  },
  {
    what: 'titles, an $id and keywords of somebody’s own',
    schema: properties(
      { a: { type: 'string', title: 'A', 'x-order': 1 } },
      { $id: 'https://example.com/s.json', title: 'T', 'x-own': { deep: [1] }, required: ['a'], ...closed },
    ),
    args: { a: 'b' },
    said: { a: 'b' },
  },
];

export const NASTY_SCHEMAS: readonly NastySchema[] = [
  ...NAMES,
  ...CLASHES,
  ...ARRAYS,
  ...UNIONS,
  ...CYCLES,
  ...VALUES,
  ...OBJECTS,
];
