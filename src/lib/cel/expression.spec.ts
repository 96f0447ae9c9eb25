// CEL expressions: only true is true, what cannot be is said at load, and no input holds the event loop.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STRING, mapOf, type CelType } from './cel-type.ts';
import { EvaluationBudget, Expression, faultOfExpression } from './expression.ts';
import { SchemaType } from './schema-type.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    amount: { type: 'integer' },
    big: { type: 'integer', format: 'int64' },
    rate: { type: 'number' },
    name: { type: 'string' },
    note: { type: ['string', 'null'] },
    urgent: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    items: { type: 'array', items: { $ref: '#/$defs/item' } },
    any: {},
  },
  $defs: {
    item: {
      type: 'object',
      properties: { qty: { type: 'integer' }, parts: { type: 'array', items: { $ref: '#/$defs/item' } } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

function variablesFor(schema: object): ReadonlyMap<string, CelType> {
  const root = schema as Record<string, unknown>;
  return new Map<string, CelType>([
    ['args', new SchemaType(root, root)],
    ['context', mapOf({ mode: STRING })],
  ]);
}

function ask(text: string, args: object = {}, schema: object = SCHEMA) {
  const values = { args: args as Record<string, unknown>, context: { mode: 'voice' } };
  return new Expression(text, variablesFor(schema)).evaluate(values, EvaluationBudget.begin());
}

const faultOf = (text: string) => faultOfExpression(text, variablesFor(SCHEMA));

describe('an expression', () => {
  it.each<[string, object, boolean]>([
    ['args.amount > 100 && context.mode == "voice"', { amount: 101 }, true],
    ['args.amount > 100 && context.mode == "voice"', { amount: 100 }, false],
    ['args.amount / 2 == 50', { amount: 101 }, true],
    ['args.rate / 2.0 == 50.5', { rate: 101 }, true],
    ['args.rate > 100', { rate: 100.5 }, true],
    ['args.big == 9007199254740993', { big: '9007199254740993' }, true],
    ['args.big == 9007199254740992', { big: '9007199254740993' }, false],
    ['args["amount"] == 1', { amount: 1 }, true],
    ['has(args.name)', {}, false],
    ['has(args.name) && args.name == "x"', {}, false],
    ['has(args.amount)', { amount: 0 }, true],
    ['args.note == null', { note: null }, true],
    ['args.name.matches("^a+$")', { name: 'aaa' }, true],
    ['args.name.matches("a")', { name: 'bab' }, true],
    ['args.name == "\\u0000"', { name: '\0' }, true],
    [
      'args.name.startsWith("ab") && args.name.endsWith("yz") && args.name.contains("m")',
      { name: 'abmyz' },
      true,
    ],
    ['size(args.tags) == 2 && "b" in args.tags', { tags: ['a', 'b'] }, true],
    ['args.name in ["x", "y"]', { name: 'z' }, false],
    ['args.tags.all(tag, tag.size() < 3)', { tags: ['a', 'bbb'] }, false],
    ['args.items.exists(item, item.qty > 5)', { items: [{ qty: 1 }, { qty: 6 }] }, true],
    ['args.items.exists_one(item, item.qty > 5)', { items: [{ qty: 7 }, { qty: 6 }] }, false],
    ['args.items.all(i, i.parts.all(p, p.qty / 2 == 1))', { items: [{ parts: [{ qty: 3 }] }] }, true],
    ['args.urgent ? args.amount > 1 : true', { urgent: false }, true],
    ['args.any == 1', { any: 1 }, true],
    ['args.amount == 1 || true', {}, true],
    ['"amount" in args', { amount: 2 }, true],
  ])('%s of %j is %s', (text, args, value) => {
    expect(ask(text, args)).toEqual({ value });
  });

  it.each<[string, object, string]>([
    ['args.amount > 100', {}, 'field not found'],
    ['args.amount + 9223372036854775807 > 0', { amount: 1 }, 'int overflow'],
    ['args.amount / 0 == 1', { amount: 1 }, 'int divide by zero'],
    ['args.amount > 1', { amount: 1e300 }, 'an integer of the arguments has more than 64 bits'],
    ['args.any', { any: 'yes' }, 'the result is neither true nor false'],
    ['args.any', { any: 1 }, 'the result is neither true nor false'],
    ['args.any', { any: null }, 'the result is neither true nor false'],
    ['args.any', { any: {} }, 'the result is neither true nor false'],
    ['args.any', {}, 'field not found'],
    ['args.note.size() > 1', { note: null }, 'found no matching overload'],
  ])('%s of %j is an error, and no value', (text, args, error) => {
    const outcome = ask(text, args);
    expect(outcome).toHaveProperty('error');
    expect('error' in outcome && outcome.error).toBe(error);
  });

  it.each([
    '',
    ' ',
    '\n',
    '1,000',
    '101abc',
    '1_000',
    'abc',
    'inf',
    'NaN',
    '١٠١',
    '0x65',
    '+101',
    ' 5',
    '5 ',
    '1e999',
    '.5',
    '5.',
  ])('neither int() nor double() makes a number of the text %j', (name) => {
    expect(ask('double(args.name) < 0.0 || double(args.name) >= 0.0', { name })).toEqual({
      error: 'the text is no number',
    });
    expect(ask('int(args.any) > 100', { any: name })).toEqual({ error: 'the text is no number' });
  });

  it.each<[string, string]>([
    ['int(args.name) == -9223372036854775808', '-9223372036854775808'],
    ['int(args.name) == 101', '101'],
    ['int(args.name) == 7', '007'],
    ['double(args.name) == 1000.0', '1e3'],
    ['double(args.name) == -0.5', '-0.5'],
    ['double(args.name) == 101.0', '101'],
  ])('%s of the digits %s', (text, name) => {
    expect(ask(text, { name })).toEqual({ value: true });
  });

  it('int() makes none of digits beyond 64 bits', () => {
    expect(ask('int(args.name) > 1', { name: '9223372036854775808' })).toHaveProperty('error');
    expect(ask('int(args.name) > 1', { name: '1.5' })).toHaveProperty('error');
  });

  it('an error says nothing of what the caller wrote', () => {
    const outcome = ask('int(args.name) > 1', { name: 'secret-word' });
    expect(outcome).toHaveProperty('error');
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  it.each<[string, string]>([
    ['args.amuont > 1', 'did you mean "amount"'],
    ['args.amount > "x"', 'of an integer and a text'],
    ['args.amount + 1.0 > 2.0', 'write 1.0'],
    ['args.name', 'has to be true or false'],
    ['args.name && true', 'does not take a text'],
    ['arg.amount > 1', 'did you mean "args"'],
    ['context.mood == "x"', 'there are: mode'],
    ['args.items.all(i, i.quantity > 1)', 'there is no field "quantity"'],
    ['args.tags.map(t, t).size() > 1', 'map() and filter()'],
    ['args.tags.all(a, args.tags.all(b, args.tags.all(c, true)))', 'nested deeper'],
    ['args.name.matches(args.note)', 'has to be a text that stands here'],
    ['args.name.matches("(")', 'matches()'],
    ['args.name.matches("(?=a)b")', 'matches()'],
    ['nope(args.name)', 'there is no function nope()'],
    ['has(args)', 'has() takes a field'],
    ['timestamp("2020-01-01T00:00:00Z") < args.any', 'there is no function'],
    ['args.amount >', 'is no CEL expression'],
    ['{"a": 1}.a == 1', 'maps and messages'],
    ['args.amount == 1u', 'unsigned'],
    ['args.name.amount == 1', 'a text has no field'],
    ['('.repeat(60) + 'true' + ')'.repeat(60), 'more than 50 brackets'],
    [`true${' || true'.repeat(220)}`, 'more than 400 parts'],
    [`true${' || true'.repeat(2000)}`, 'longer than'],
  ])('%s is refused at load', (text, message) => {
    expect(faultOf(text)).toContain(message);
  });

  it('says where in it the fault is', () => {
    expect(faultOf('true && args.amuont > 1')).toContain('(at character');
  });
});

describe('hostile input', () => {
  const over = (text: string, args: object, schema: object = {}) => ask(text, args, schema);

  it.each<[string, string, object]>([
    ['a long list', 'args.l.all(a, a > 0)', { l: Array(40_000).fill(1) }],
    ['two long lists', 'args.l.all(a, args.l.all(b, a == b))', { l: Array(500).fill(1) }],
    ['errors in each round', 'args.l.all(a, a.x > 0)', { l: Array(2_500).fill(1) }],
    ['a long text', 'size(args.t) > 1', { t: 'x'.repeat(1_000_000) }],
    ['a pattern over a long text', 'args.t.matches("(a|aa)+$")', { t: `${'a'.repeat(900_000)}b` }],
    ['a text in a text', 'args.t.contains(args.u)', { t: 'a'.repeat(300_000), u: `b${'a'.repeat(100_000)}` }],
    [
      'texts compared',
      'args.l.exists(a, args.l.exists(b, a + "x" == b))',
      { l: Array(90).fill('y'.repeat(9_000)) },
    ],
  ])('%s ends as an error: it is too large to be decided', (_what, text, args) => {
    expect(over(text, args)).toHaveProperty('error');
  });

  it('fields that every object inherits are not there', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
      expect(over(`has(args.${name})`, {})).toEqual({ value: false });
    expect(over('has(args.x.constructor)', { x: {} })).toEqual({ value: false });
    expect(over('args.x.constructor == "mine"', { x: { constructor: 'mine' } })).toEqual({ value: true });
  });

  it('never throws, and never gives anything but a boolean or an error, whatever the arguments are', () => {
    const texts = [
      'args.any',
      'args.any > 1',
      'args.any.x.y == "a"',
      'size(args.any) > 2',
      'args.any.all(x, x == 1)',
    ];
    const expressions = texts.map((text) => new Expression(text, variablesFor(SCHEMA)));
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...expressions), (any, expression) => {
        const values = { args: { any } as Record<string, unknown>, context: { mode: '' } };
        const outcome = expression.evaluate(values, EvaluationBudget.begin());
        expect(
          'error' in outcome ? typeof outcome.error === 'string' : typeof outcome.value === 'boolean',
        ).toBe(true);
      }),
    );
  });

  it('compares integers as JavaScript compares BigInt, over all 64 bits', () => {
    const bound = new Expression('args.big > 4611686018427387904', variablesFor(SCHEMA));
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (big) => {
        const values = { args: { big: String(big) }, context: { mode: '' } };
        const outcome = bound.evaluate(values, EvaluationBudget.begin());
        expect(outcome).toEqual({ value: big > 2n ** 62n });
      }),
    );
  });
});
