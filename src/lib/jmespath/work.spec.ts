// What expressions cost: every function pays before it works, so that no text or list holds the event loop.
import { describe, expect, it } from 'vitest';
import { leastCpuRatio } from '../../../test/helpers/cpu-time.ts';
import type { JsonValue } from '../json/json-value.ts';
import { parseExpression } from './ast.ts';
import { evaluate } from './evaluate.ts';
import { charactersOf, containsText, reversedText } from './texts.ts';
import { ExpressionError, Work } from './work.ts';

const TEXT = 'x'.repeat(1 << 20);
const halves = 'a'.repeat(50_000);
const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]));
const DATA: JsonValue = {
  text: TEXT,
  hay: 'a'.repeat(1 << 18),
  needle: `${halves}b${halves}`,
  list: Array.from({ length: 50_000 }, (_, at) => at),
  words: Array.from({ length: 1_000 }, (_, at) => `${'w'.repeat(1_000)}${at}`),
  members,
};

function nested(fn: string, inner: string, times: number): string {
  return `${`${fn}(`.repeat(times)}${inner}${')'.repeat(times)}`;
}

function repeated(part: string, between: string, times: number): string {
  return Array.from({ length: times }, () => part).join(between);
}

const ATTACKS: readonly (readonly [string, string])[] = [
  ['94 nested reversals of a text', nested('reverse', 'text', 94)],
  ['lengths of a text', `[${repeated('length(text)', ',', 100)}]`],
  ['a search that starts again at every place', 'contains(hay, needle)'],
  ['many searches', `[${repeated('contains(hay, needle)', ',', 50)}]`],
  ['nested reversals of a list', nested('reverse', 'list', 94)],
  ['nested sorts', nested('sort', 'words', 94)],
  ['extremes of texts', `[${repeated('max(words)', ',', 100)}]`],
  ['joins', `[${repeated("join('-', words)", ',', 80)}]`],
  ['texts of lists', `[${repeated('to_string(list)', ',', 80)}]`],
  ['texts of texts', nested('to_string', 'members', 90)],
  ['numbers of texts', `[${repeated('to_number(text)', ',', 80)}]`],
  ['comparisons of maps', repeated('members == members', ' && ', 90)],
  ['the truth of maps', repeated('!members', ' || ', 90)],
  ['keys and values', `[${repeated('keys(members)', ',', 80)}]`],
  ['merges', `[${repeated('merge(members, members)', ',', 50)}]`],
  ['beginnings and ends', `[${repeated('starts_with(text, text)', ',', 60)}]`],
  ['lists of lists', repeated('list[*]', ' | ', 90)],
  ['objects made', repeated('list[*].{a: @, b: @}', ' | ', 20)],
  ['values, flattened and sorted', 'list[*].[@, @] | [] | sort_by(@, &to_string(@))'],
  ['filters of filters', 'list[?length(to_string(@)) > `3`][?contains(to_string(@), `7`)]'],
];

/** What holds the loop for a moment that nobody minds: some 20 ms on an ordinary machine. */
const NUMBERS = Array.from({ length: 150_000 }, (_, at) => at);
const shortWork = () => (JSON.parse(JSON.stringify(NUMBERS)) as number[]).map(String).join();
const FEW_TIMES = 4;

describe('what an expression may compute', () => {
  it.each(ATTACKS)(
    'is bounded for %s, whatever the data: it costs a few times what reading a megabyte of JSON does, at most',
    (_name, text) => {
      const tree = parseExpression(text);
      const run = () => {
        try {
          evaluate(tree, DATA, new Work());
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error;
        }
      };
      expect(leastCpuRatio(run, shortWork, FEW_TIMES)).toBeLessThan(FEW_TIMES);
    },
  );

  it('lets an ordinary answer of a megabyte be selected from', () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => ({ id: at, name: `row ${at}`, tags: ['a', 'b'] }));
    const tree = parseExpression('rows[?id > `10`].{id: id, name: name, first: tags[0]} | [:100]');
    expect(evaluate(tree, { rows }, new Work())).toHaveLength(100);
  });
});

describe('texts', () => {
  const work = () => new Work();
  it('are found as includes finds them', () => {
    const letters = 'ab';
    const texts = Array.from({ length: 120 }, (_, at) =>
      Array.from(
        { length: 60 },
        (_none, bit) => letters[(at * 7919 + bit * bit * 31) % 97 > 48 ? 0 : 1],
      ).join(''),
    );
    for (const text of texts) {
      for (const part of texts)
        expect(containsText(text + text, part, work())).toBe((text + text).includes(part));
    }
    expect(containsText(`${halves}${halves}b${halves}`, `${halves}b${halves}`, work())).toBe(true);
  });

  it('are counted and turned round by characters, halves of characters included', () => {
    for (const text of ['', 'abc', 'a😀b', '😀😀', '\ud800a', 'a\udc00', '\udc00\ud800', '\ufeffa']) {
      expect(charactersOf(text, work())).toBe(Array.from(text).length);
      expect(reversedText(text, work())).toBe(Array.from(text).toReversed().join(''));
    }
  });
});
