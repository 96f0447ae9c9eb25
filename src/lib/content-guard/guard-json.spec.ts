// A JSON value under rules: nothing that is looked for survives, nothing else is touched, and the work stays in proportion.
import {
  array,
  assert,
  constantFrom,
  jsonValue,
  oneof,
  property,
  shuffledSubarray,
  string,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../json/json-value.ts';
import { atOnce } from '../concurrency/in-slices.ts';
import { BUILT_IN_NAMES, builtIn } from './built-in.ts';
import type { Detector } from './detector.ts';
import { guardJson, JsonRefused } from './guard-json.ts';
import { argumentRules, compileRules, type RuleSet } from './rules.ts';
import { findingsIn, LONGEST_FINDING } from './scan-text.ts';

const MOST = 8 << 20;
const rulesOf = (rules: unknown): RuleSet => compileRules(argumentRules.parse(rules));
const all = (action: 'mask' | 'refuse'): RuleSet =>
  rulesOf(BUILT_IN_NAMES.map((detect) => ({ detect, action })));
const guarded = (value: JsonValue, rules = all('mask'), most = MOST) => atOnce(guardJson(value, rules, most));

function refusal(value: JsonValue, rules: RuleSet, most = MOST): JsonRefused {
  try {
    guarded(value, rules, most);
  } catch (error) {
    if (error instanceof JsonRefused) return error;
    throw error;
  }
  throw new Error('it passed');
}

const CARD = '4111 1111 1111 1111';
const secrets = constantFrom(
  'bob@example.com',
  CARD,
  CARD.replaceAll(' ', ''),
  'DE89370400440532013000',
  '+4915123456789',
  '10.0.0.1',
  `AKIA${'ABCDEFGH'.repeat(2)}`,
);
const pieces = oneof(
  secrets,
  string({ unit: 'binary', maxLength: 5 }),
  constantFrom(' ', '-', '.', '@', '1', '\0', '\ud800'),
);
const texts = array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));

describe('masks', () => {
  it('stand in the place of values and of names, and two names with one mask stay two', () => {
    const value = { 'a@b.co': 1, 'c@d.eu': [`card ${CARD}.`], plain: null };
    const { value: clean } = guarded(value);
    expect(clean).toEqual({ '[email]': 1, '[email] 2': ['card [payment_card].'], plain: null });
  });

  it('nothing that a rule finds survives, and masking again changes nothing', () => {
    assert(
      property(texts, (text) => {
        const { value: clean } = guarded(text);
        for (const name of BUILT_IN_NAMES)
          expect(atOnce(findingsIn(clean as string, builtIn(name)))).toEqual([]);
        expect(guarded(clean).value).toBe(clean);
      }),
    );
  });

  const shownText = (text: string, rules: RuleSet) => guarded(text, rules).value as string;

  it.each([
    [`+14155552671 4111-1111-1111-1111`, '[payment_card]'],
    ['tel +49 30 123456 4111111111111111', 'tel [phone] [payment_card]'],
    [`+1 ${CARD}`, '[payment_card]'],
    ['card +4111111111111111', 'card +[payment_card]'],
    ['bob@10.0.0.1', '[email]'],
    ['2002 4111 1111 1111 1111', '[payment_card]'],
  ])('the order of rules decides nothing: %s', (text, expected) => {
    for (const names of [BUILT_IN_NAMES, BUILT_IN_NAMES.toReversed()])
      expect(shownText(text, rulesOf(names.map((detect) => ({ detect, action: 'mask' }))))).toBe(expected);
  });

  it('in any order of rules no character of what any rule finds is left', () => {
    const order = shuffledSubarray([...BUILT_IN_NAMES], { minLength: BUILT_IN_NAMES.length });
    assert(
      property(texts, order, (text, names) => {
        const kept = text.split('');
        for (const name of names)
          for (const { start, end } of atOnce(findingsIn(text, builtIn(name)))) kept.fill('\n', start, end);
        const clean = shownText(text, rulesOf(names.map((detect) => ({ detect, action: 'mask' }))));
        // What stands between masks stands there between findings, in the same order.
        let at = 0;
        for (const piece of clean.split(/\[[a-z_0-9]+\]/)) {
          const place = kept.join('').indexOf(piece, at);
          expect(place).toBeGreaterThanOrEqual(at);
          at = place + piece.length;
        }
        expect(clean.replaceAll(/\[[a-z_0-9]+\]/g, '[]')).toBe(
          shownText(text, all('mask')).replaceAll(/\[[a-z_0-9]+\]/g, '[]'),
        );
      }),
    );
  });

  it('the longest of findings that overlap names the mask, and what reaches beyond it is masked too', () => {
    const rules = rulesOf([
      { patterns: ['bcd'], name: 'short', action: 'mask' },
      { patterns: ['cdefg'], name: 'long', action: 'mask' },
      { patterns: ['gh'], name: 'last', action: 'mask' },
    ]);
    expect(shownText('abcdefghi', rules)).toBe('a[long]i');
  });

  it('a text may have very many findings', () => {
    const rules = rulesOf([{ words: ['a1'], name: 'x', action: 'mask' }]);
    expect(shownText('a1 '.repeat(200_000), rules)).toBe('[x] '.repeat(200_000));
  });

  it('what has no finding is the very same value', () => {
    const rules = rulesOf([{ words: ['nothing-like-this-word'], action: 'mask' }]);
    assert(
      property(jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(guarded(value as JsonValue, rules).value).toBe(value);
      }),
    );
  });

  it.each([-40, -9, -1, 0, 1, 7])('a finding is found wherever it lies in a long text: %i', (offset) => {
    const before = 'x '.repeat((LONGEST_FINDING + offset) / 2);
    const text = `${before}bob@example.com ${'y '.repeat(20_000)}${CARD}`;
    expect(guarded(text).value).toBe(
      text.replace('bob@example.com', '[email]').replace(CARD, '[payment_card]'),
    );
  });
});

describe('refusals', () => {
  it('name the rule and the place, and never what was found', () => {
    const rules = rulesOf([{ detect: 'email', action: 'refuse' }]);
    expect(refusal({ a: { 'b/c': ['x', 'bob@example.com'] } }, rules)).toMatchObject({
      rule: 'email',
      pointer: '/a/b~1c/1',
    });
    expect(refusal({ a: { 'bob@example.com': 1 } }, rules)).toMatchObject({
      rule: 'email',
      pointer: '/a/[email]',
    });
  });

  it('a number that spells a card is looked at as its text, and has no mask', () => {
    expect(refusal({ n: 4111111111111111 }, all('mask'))).toMatchObject({
      rule: 'payment_card',
      pointer: '/n',
    });
    expect(guarded({ n: 4111111111111112 }).counts.size).toBe(0);
  });

  it('what is beyond the bounds does not pass', () => {
    expect(refusal(['x'.repeat(2_000)], all('mask'), 1_024).message).toContain('more than is looked through');
    let deep: JsonValue = 1;
    for (let level = 0; level < 300; level += 1) deep = [deep];
    expect(refusal(deep, all('mask')).message).toContain('deeper than 200');
    const endless = rulesOf([{ patterns: ['k[a-z]{8,}'], action: 'mask' }]);
    expect(refusal('k'.repeat(3 * LONGEST_FINDING), endless).message).toContain('more of "pattern"');
  });

  it('masks that are longer than what they stand for count as well', () => {
    const rules = rulesOf([{ words: ['a'], name: 'a_name_that_is_rather_long', action: 'mask' }]);
    expect(refusal('a '.repeat(900), rules, 2_000).message).toContain('more than is looked through');
  });
});

describe('asking', () => {
  it('says where, with a mask for what was found in a name, and leaves the value as it is', () => {
    const rules = rulesOf([{ words: ['falcon'], name: 'projects', action: 'ask' }]);
    const value = { falcon: 1, b: 'the falcon' };
    expect(guarded(value, rules)).toMatchObject({
      value,
      asked: { rule: 'projects', pointer: '/[projects]' },
    });
  });
});

describe('the work', () => {
  it('each character of many near misses is shown to a detector at most twice', () => {
    const shown: number[] = [];
    const counting = (detector: Detector): Detector => ({
      find: (text, from, limit) => {
        shown.push(text.length);
        return detector.find(text, from, limit);
      },
      ...(detector.overlaps !== undefined && { overlaps: detector.overlaps }),
    });
    for (const unit of ['a', 'a@', '4111 ', 'DE89', 'eyJa.', '-----BEGIN ', '1.1.1. ', '\u0000', '\ud800']) {
      const text = unit.repeat((1 << 18) / unit.length);
      for (const name of BUILT_IN_NAMES) {
        shown.length = 0;
        expect([unit, name, atOnce(findingsIn(text, counting(builtIn(name)))).length]).toEqual([
          unit,
          name,
          0,
        ]);
        expect(shown.reduce((sum, length) => sum + length, 0)).toBeLessThan(2.1 * text.length);
      }
    }
  });

  it('a long text is looked at in pieces', () => {
    let pieces = 0;
    const work = findingsIn('a '.repeat(1 << 19), builtIn('payment_card'));
    while (work.next().done !== true) pieces += 1;
    expect(pieces).toBeGreaterThan(100);
  });
});

describe('rules', () => {
  it.each([
    ['a pattern that is none', { patterns: ['a', '('] }, ['patterns', 1], /^cannot be used: .*closing/],
    ['a pattern that is everywhere', { patterns: ['a*'] }, ['patterns', 0], /empty text/],
    ['words without a word', { words: ['falcon', '--'] }, ['words', 1], /"--" has no word in it/],
    ['nothing to look for', {}, [], /must have one of detect, words and patterns, found none of them/],
    ['two things to look for', { detect: 'email', words: ['x'] }, [], /found detect and words$/],
    ['a name beside a built-in detector', { detect: 'email', name: 'mail' }, ['name'], /has its own$/],
    ['a detector that is not there', { detect: 'emial' }, ['detect'], /"email"/],
  ])('with %s are refused where that stands', (_what, rule, path, message) => {
    const { error } = argumentRules.safeParse([
      { detect: 'ipv4', action: 'mask' },
      { ...rule, action: 'mask' },
    ]);
    expect(error?.issues).toEqual([
      expect.objectContaining({ path: [1, ...path], message: expect.stringMatching(message) as string }),
    ]);
  });

  it('may not find the mask of one of them: each that does is told', () => {
    const { error } = argumentRules.safeParse([
      { words: ['email'], action: 'mask' },
      { detect: 'email', action: 'mask' },
      { patterns: ['w.rds'], action: 'refuse' },
    ]);
    expect(error?.issues).toMatchObject([
      { path: [0], message: expect.stringContaining('finds the mask [email]') as string },
      { path: [2], message: expect.stringContaining('finds the mask [words]') as string },
    ]);
  });
});
