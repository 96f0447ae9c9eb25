// Strict JSON: agrees with JSON.parse within the limits, and refuses everything else with a reason.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultInWords } from './strict-json-error.ts';
import { checkJsonValue, parseStrictJson, StrictJsonError } from './strict-json.ts';

function reasonOf(run: () => unknown): string {
  try {
    run();
    return 'accepted';
  } catch (error) {
    if (error instanceof StrictJsonError) return error.reason;
    throw error;
  }
}

const REASON = /^[A-Z_]+$/;

/** Like reasonOf, but plain syntax errors of JSON.parse are an outcome too. */
function outcomeOf(run: () => unknown): string {
  return reasonOf(() => {
    try {
      run();
    } catch (error) {
      if (error instanceof SyntaxError) throw new StrictJsonError('SYNTAX', 'is not valid JSON', '');
      throw error;
    }
  });
}

/** JSON values of every shape; only what the limits forbid on purpose is left out. */
const withinLimits = fc.jsonValue({ maxDepth: 8, stringUnit: 'grapheme' }).filter((value) => {
  return reasonOf(() => checkJsonValue(value)) === 'accepted';
});

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('parseStrictJson', () => {
  it.each([
    ['TOO_DEEP', deep(33)],
    ['TOO_DEEP', deep(1_000_000)],
    ['TOO_DEEP', '['.repeat(1_000_000)],
    ['TOO_MANY_TOKENS', `[${'1,'.repeat(60_000)}1]`],
    ['KEY_TOO_LONG', `{"${'k'.repeat(300)}":1}`],
    ['STRING_TOO_LONG', `["${'s'.repeat(300_000)}"]`],
    ['DUPLICATE_KEY', '{"a":1,"b":{"a":1},"a":2}'],
    ['DUPLICATE_KEY', String.raw`{"a":1,"\u0061":2}`],
    ['FORBIDDEN_KEY', '{"__proto__":{}}'],
    ['FORBIDDEN_KEY', String.raw`{"a":{"\u005f_proto__":1}}`],
    ['FORBIDDEN_KEY', '{"constructor":{"prototype":{}}}'],
    ['NUL', String.raw`"a\u0000"`],
    ['LONE_SURROGATE', String.raw`"\ud800"`],
    ['LONE_SURROGATE', '"\ud800"'],
    ['NUMBER_RANGE', '1e400'],
    ['NUMBER_RANGE', '[9007199254740993]'],
    ['NUMBER_RANGE', '-9007199254740993'],
    ['SYNTAX', '{"a":}'],
    ['SYNTAX', '"never ends'],
    ['SYNTAX', ''],
    ['SYNTAX', ']]]]{{{'],
    ['SYNTAX', '{"a":1}x'],
  ])('refuses with %s', (reason, text) => {
    expect(reasonOf(() => parseStrictJson(text))).toBe(reason);
  });

  it('names the place', () => {
    const refuse = () => parseStrictJson(String.raw`{"list":[1,{"a/b":"\u0000"}]}`);
    expect(refuse).toThrow(expect.objectContaining({ reason: 'NUL', pointer: '/list/1/a~1b' }));
  });

  it.each([
    '{"constructor":1}',
    '{"prototype":{}}',
    '{"a":{"b":1},"c":{"b":1}}',
    String.raw`{"a":"\\\""}`,
    '9007199254740991',
    '1e3',
    '"😀"',
  ])('accepts %s', (text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  it('agrees with JSON.parse on every JSON value within the limits', () => {
    fc.assert(
      fc.property(withinLimits, (value) => {
        const text = JSON.stringify(value);
        expect(parseStrictJson(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('a mutilated text is refused with a reason, or is JSON that passes the check of values too', () => {
    const words = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ',',
      ':',
      String.raw`\u0000`,
      '\\',
      'null',
      '1e999',
      '\ud800',
      ' ',
    );
    fc.assert(
      fc.property(withinLimits, fc.array(fc.tuple(fc.nat(), words), { maxLength: 4 }), (value, edits) => {
        let text = JSON.stringify(value, null, 1);
        for (const [at, word] of edits) {
          const cut = at % (text.length + 1);
          text = text.slice(0, cut) + word + text.slice(cut + 1);
        }
        const strict = outcomeOf(() => parseStrictJson(text));
        const lenient = outcomeOf(() => checkJsonValue(JSON.parse(text)));
        expect(strict === 'accepted' ? lenient : strict).toMatch(
          strict === 'accepted' ? /^accepted$/ : REASON,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('every kind of value counts as a token', () => {
    for (const value of ['true', 'false', 'null', '1', '""', '[]', '{}']) {
      const list = (length: number) => `[${Array.from({ length }, () => value).join(',')}]`;
      expect(reasonOf(() => parseStrictJson(list(9), { tokens: 10 }))).toBe('accepted');
      expect(reasonOf(() => parseStrictJson(list(10), { tokens: 10 }))).toBe('TOO_MANY_TOKENS');
    }
    expect(reasonOf(() => parseStrictJson('{"a":{"b":1}}', { keys: 2 }))).toBe('accepted');
    expect(reasonOf(() => parseStrictJson('{"a":{"b":1}}', { keys: 1 }))).toBe('TOO_MANY_TOKENS');
    expect(reasonOf(() => checkJsonValue({ a: { b: 1 } }, { keys: 2 }))).toBe('accepted');
    expect(reasonOf(() => checkJsonValue({ a: { b: 1 } }, { keys: 1 }))).toBe('TOO_MANY_TOKENS');
    expect(reasonOf(() => parseStrictJson('{"a":1,"b":2}', { tokens: 5 }))).toBe('accepted');
    expect(reasonOf(() => parseStrictJson('{"a":1,"b":2}', { tokens: 4 }))).toBe('TOO_MANY_TOKENS');
  });

  it('lengths are of bytes', () => {
    expect(reasonOf(() => parseStrictJson(`"${'é'.repeat(5)}"`, { stringBytes: 10 }))).toBe('accepted');
    expect(reasonOf(() => parseStrictJson(`"${'é'.repeat(6)}"`, { stringBytes: 10 }))).toBe(
      'STRING_TOO_LONG',
    );
    expect(reasonOf(() => parseStrictJson(`{"${'é'.repeat(6)}":1}`, { keyBytes: 10 }))).toBe('KEY_TOO_LONG');
  });

  it('a key is found twice among many, too', () => {
    const members = Array.from({ length: 100 }, (_, index) => `"k${index}":1`);
    expect(reasonOf(() => parseStrictJson(`{${members.join(',')}}`))).toBe('accepted');
    expect(reasonOf(() => parseStrictJson(`{${members.join(',')},"k3":1}`))).toBe('DUPLICATE_KEY');
  });
});

describe('checkJsonValue', () => {
  it('accepts what parseStrictJson accepts, and refuses what it refuses', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value).replaceAll('-0', '0');
        const asParsed = JSON.parse(text) as unknown;
        expect(reasonOf(() => checkJsonValue(asParsed))).toBe(reasonOf(() => parseStrictJson(text)));
      }),
    );
  });

  it('names the place, and refuses what is no JSON at all', () => {
    const refuse = () => checkJsonValue({ list: [1, { 'a/b': undefined }] });
    expect(refuse).toThrow(expect.objectContaining({ reason: 'SYNTAX', pointer: '/list/1/a~1b' }));
    expect(reasonOf(() => checkJsonValue({ constructor: { prototype: 1 } }))).toBe('FORBIDDEN_KEY');
    expect(reasonOf(() => checkJsonValue([[[1]]], { depth: 2 }))).toBe('TOO_DEEP');
  });

  it.each([
    ['NUMBER_RANGE', { a: Number.NaN }],
    ['NUMBER_RANGE', [Number.POSITIVE_INFINITY]],
    ['LONE_SURROGATE', { a: '\udc00' }],
    ['FORBIDDEN_KEY', JSON.parse('{"__proto__":1}')],
  ])('refuses with %s', (reason, value) => {
    expect(reasonOf(() => checkJsonValue(value))).toBe(reason);
  });

  it('refuses depth without recursion', () => {
    let value: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) value = [value];
    expect(reasonOf(() => checkJsonValue(value))).toBe('TOO_DEEP');
  });
});

describe('faultInWords', () => {
  it.each([
    ['{"arguments":{"a":1,"a":2}}', '/arguments/a must not appear twice in its object'],
    ['{"list":[{"__proto__":1}]}', '/list/0 must not have the key "__proto__"'],
    ['{"text":"\\ud800"}', '/text must not hold half of a surrogate pair'],
    ['{"a":1} x', 'it is not valid JSON, from character 9 on'],
  ])('of %s names the place', (text, words) => {
    const refusal = (): unknown => {
      try {
        return parseStrictJson(text);
      } catch (error) {
        return error;
      }
    };
    expect(faultInWords(refusal() as StrictJsonError)).toBe(words);
  });
});
