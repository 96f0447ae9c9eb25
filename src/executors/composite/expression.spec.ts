// Expressions: JMESPath as the package understands it, on own properties only, at a bounded cost, with every name checked.
import { assert, constantFrom, jsonValue, pre, property, string } from 'fast-check';
import { search } from 'jmespath';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { ExpressionError, Work } from '../../lib/jmespath/work.ts';
import { compileExpression, type Names } from './expression.ts';
import { compileTemplate } from './value-template.ts';

const NAMES: Names = { steps: new Set(['first']), allSteps: new Set(['first', 'later']), hasItem: true };

/** The expression applied to `steps.first`. */
function evaluated(text: string, data: JsonValue, work = new Work()): JsonValue {
  return compileExpression(`steps.first | ${text}`, NAMES).evaluate({ steps: { first: data } }, work);
}

/** The sentence that an operator reads, or nothing. */
function judgement(text: string): string {
  try {
    compileExpression(text, NAMES);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const DATA: JsonObject = {
  a: { b: [1, 2, 3], c: 'text', d: null, e: true },
  list: [
    { n: 2, s: 'x', t: [1, [2]] },
    { n: 1, s: 'y', t: [] },
    { n: 3, s: 'z' },
  ],
  words: ['b', 'a', 'c'],
};

describe('an expression', () => {
  it.each([
    'a.b[0]', 'a.b[-1]', 'a.b[5]', 'a.b[1:]', 'a.b[::-1]', 'a.b[2:0:-1]', 'a.b[:-1]', 'a.b[-2:]', 'a.b[-9:9:2]', 'list[*].n',
    'list[].t[]', 'list[?n > `1`].s', "list[?s == 'y'] | [0]", 'a.*', '*.b', 'list[*].[n, s]', 'list[0].{x: n, y: s}',
    'a.d || a.c', 'a.e && a.c', '!(a.d)', 'a.missing', 'a.b == `[1, 2, 3]`', 'a.b != `[1]`', 'length(list)', 'keys(a)',
    'sort(words)', 'sort_by(list, &n)[*].s', 'max_by(list, &n).s', 'min_by(list, &n).s', 'sum(a.b)', 'avg(a.b)', 'max(a.b)',
    "join('-', words)", 'reverse(words)', 'map(&n, list)', 'merge(a, list[0])', "contains(words, 'a')", "starts_with(a.c, 'te')",
    'to_string(a.b)', "to_number('12')", 'to_array(a.c)', 'type(a)', 'not_null(a.d, a.c)', 'values(list[0])', 'a."b"[1]',
    "'raw'", '`{"k": [1]}`', '@.a.c', 'abs(`-1`)', 'ceil(`1.2`)', 'floor(`1.8`)', "ends_with(a.c, 'xt')", 'min(words)',
  ])('%s gives what the package gives', (text) => {
    expect(evaluated(text, DATA)).toEqual(search(DATA, text));
  }); // oxfmt-ignore

  it('paths over any JSON give what the package gives', () => {
    const paths = [
      'a',
      'a.b',
      '[0]',
      '[-1]',
      '[*].a',
      '[]',
      '*.a',
      '[?a]',
      '[?a].b[]',
      '{x: a, y: b}',
      '[a, b]',
      '[1:]',
      '[::-2]',
    ];
    assert(
      property(jsonValue({ noUnicodeString: true }), constantFrom(...paths), (data, path) => {
        // The package reads what objects inherit, which is what ours is there to avoid.
        pre(!JSON.stringify(data).includes('__proto__'));
        expect(evaluated(path, data as JsonValue)).toEqual(search(data, path));
      }),
    );
  });

  it.each(['constructor', '__proto__', 'toString', 'a.constructor.name', 'length', 'a.b.length'])(
    '%s is not found: data have no inherited properties',
    (text) => {
      expect(evaluated(text, DATA)).toBeNull();
    },
  );

  it('orders numbers only', () => {
    expect(evaluated("a.c < 'z'", DATA)).toBeNull();
  });

  it.each([
    ['', /JMESPath/],
    ['steps.first.', /a part is missing|JMESPath/],
    ['=', /JMESPath/],
    ['steps.first[-]', /whole number/],
    ['steps.first[::0]', /step other than 0/],
    ['()', /JMESPath|missing/],
    ['{"__proto__": input}', /"__proto__" is not allowed/],
    ['nothing(input)', /no function nothing\(\)/],
    ['lenght(input)', /did you mean length\(\)/],
    ['length(input, input)', /takes 1 argument, found 2/],
    ['merge()', /at least 1 argument/],
    ['steps.later.x', /"later" has not ended here/],
    ['steps.frist', /no step "frist"; did you mean "first"/],
    ['!input.go', /"!" binds closer/],
    ['first.x', /no name here.*steps\.first/],
    ['steps.{x: later}', /has not ended/],
    ['steps | later', /has not ended/],
    ['['.repeat(150), /JMESPath/],
    ['!'.repeat(150) + 'input', /nested at most/],
    ['input.'.repeat(500), /at most 2000 characters/],
  ])('%s is judged at load', (text, message) => {
    expect(judgement(text)).toMatch(message);
  });

  it('item and index exist inside a for_each only', () => {
    expect(() => compileExpression('item.x', { ...NAMES, hasItem: false })).toThrow('"item" is no name here');
  });

  it('no text makes the parser do anything but compile or refuse', () => {
    assert(
      property(
        string({ unit: constantFrom(...'ab.[]{}()*?&|!<>=@`\'",:-01 '.split('')), maxLength: 30 }),
        (text) => {
          expect(judgement(text)).not.toMatch(/undefined|is not a function/);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['a list that doubles', `[[@, @]]${' | [@[], @[]]'.repeat(40)}`],
    ['a value that holds itself twice, over and over', `[@, @]${' | [@, @]'.repeat(60)}`],
    ['text that doubles', `'ab'${" | join('', [@, @])".repeat(50)}`],
    ['text of text of text', `@${' | to_string([@, @])'.repeat(40)}`],
    ['flattening what doubles', `[@, @]${' | [@, @][]'.repeat(60)}`],
  ])('%s ends with its budget', (_what, text) => {
    expect(() => evaluated(text, DATA)).toThrow(expect.objectContaining({ reason: 'EXPRESSION_TOO_COSTLY' }));
  });

  it.each(['@', '@ == @[0]', 'to_string(@)'])('data of endless depth are refused: %s', (text) => {
    const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as JsonValue;
    expect(() => evaluated(text, deep)).toThrow('nested too deep');
  });

  it('what a function was not made for is an ExpressionError', () => {
    for (const text of ['length(`1`)', 'sum(words)', 'sort(list)', 'keys(words)', 'join(`1`, words)', '[&a]'])
      expect(() => evaluated(text, DATA)).toThrow(ExpressionError);
  });
});

describe('a template', () => {
  const scope = { input: { name: 'Ada' }, steps: { first: { n: 1 } } };

  it('fills references and leaves everything else as it stands', () => {
    const template = compileTemplate(
      { a: { $: 'input.name' }, b: ['${input.name}', { c: { $: 'steps.first.n' } }], d: 'input.name' },
      NAMES,
    );
    expect(template.fillIn(scope, new Work())).toEqual({
      a: 'Ada',
      b: ['${input.name}', { c: 1 }],
      d: 'input.name',
    });
    expect(template.inputs).toEqual(['name']);
  });

  it('previews what the input decides', () => {
    const template = compileTemplate({ a: { $: 'input.name' }, b: { $: 'steps.first.n' } }, NAMES);
    expect(template.preview({ input: scope.input }, new Work())).toEqual({
      a: 'Ada',
      b: { $: 'steps.first.n' },
    });
  });

  it('a filled value shares nothing with the template', () => {
    const template = compileTemplate({ list: [{ x: 1 }] }, NAMES);
    const [one, two] = [template.fillIn(scope, new Work()), template.fillIn(scope, new Work())] as {
      list: object[];
    }[];
    expect(one?.list).toEqual(two?.list);
    expect(one?.list).not.toBe(two?.list);
    expect(one?.list[0]).not.toBe(two?.list[0]);
  });

  it.each([[{ $: 'input.a', more: 1 }], [{ $: 1 }], [{ $: { $: 'input.a' } }]])('refuses %j', (value) => {
    expect(() => compileTemplate({ x: value as JsonValue }, NAMES)).toThrow('expected a reference');
  });

  it('a key "__proto__" in what a step returned goes no further', () => {
    const hostile = JSON.parse('{"__proto__": {"admin": true}}') as JsonObject;
    const template = compileTemplate({ x: { $: 'input' } }, NAMES);
    expect(() => template.fillIn({ input: hostile }, new Work())).toThrow('"__proto__"');
  });
});
