// Arguments become PostgreSQL's text format, or are refused with their place.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/helpers/any-character.ts';
import type { JsonValue } from '../../contract/json.ts';
import { parseArray } from '../../infra/sql/inspect/parse-array.ts';
import { encoderOf, type Violation } from './encode-argument.ts';

function encode(type: string, value: JsonValue) {
  const violations: Violation[] = [];
  return { text: encoderOf(type)(value, 'a/b', violations), violations };
}

describe('encoderOf', () => {
  it.each<[type: string, value: JsonValue, text: string | null]>([
    ['text', 'x', 'x'],
    ['integer', 5, '5'],
    ['boolean', true, 'true'],
    ['text', null, null],
    ['jsonb', 'x', '"x"'],
    ['jsonb', { a: [1] }, '{"a":[1]}'],
    ['jsonb', null, null],
    ['integer[]', [1, null], '{"1",NULL}'],
    ['text[]', ['NULL', '{,}', '"\\'], '{"NULL","{,}","\\"\\\\"}'],
    ['text[]', [], '{}'],
  ])('%s %j is %j', (type, value, text) => {
    expect(encode(type, value)).toEqual({ text, violations: [] });
  });

  it.each<[type: string, value: JsonValue]>([
    ['text', {}],
    ['text', []],
    ['text', 'a\0b'],
    ['text', '\ud800'],
    ['text[]', 'x'],
    ['text[]', [['x']]],
    ['text[]', ['\0']],
    ['jsonb', { a: '\0' }],
    ['json', ['\ud800']],
  ])('%s refuses %j', (type, value) => {
    expect(encode(type, value).violations).toMatchObject([{ pointer: '/a~1b' }]);
  });

  it('a list comes back as it was', () => {
    const item = fc.option(
      fc.string({ unit: anyCharacter }).filter((text) => text.isWellFormed() && !text.includes('\0')),
    );
    fc.assert(
      fc.property(fc.array(item), (items) => {
        expect(parseArray(encode('text[]', items).text ?? '', (text) => text)).toEqual(items);
      }),
    );
  });
});
