// Language tags: what is one, and what is found for one.
import { expect, it } from 'vitest';
import { forLanguage, isLanguageTag } from './language-tag.ts';

it.each(['de', 'pt-BR', 'zh-Hant-TW', 'de-CH-1996'])('%s is a language tag', (tag) => {
  expect(isLanguageTag(tag)).toBe(true);
});

it.each(['', 'german', 'd', 'de_CH', 'de-', '-de', 'de-\nx', 'x'.repeat(40), 'de-verylongsubtag'])(
  '%j is none',
  (tag) => {
    expect(isLanguageTag(tag)).toBe(false);
  },
);

const WORDS = new Map([
  ['de', 'Hallo'],
  ['pt', 'Olá'],
  ['pt-br', 'Oi'],
]);

it.each([
  ['de', 'Hallo'],
  ['DE-at', 'Hallo'],
  ['pt-BR', 'Oi'],
  ['pt-PT', 'Olá'],
  ['fr', undefined],
  [undefined, undefined],
])('for %s there is %s', (tag, word) => {
  expect(forLanguage(WORDS, tag)).toBe(word);
});
