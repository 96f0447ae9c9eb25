// What may be thrown, and the code that is found in it.
import { expect, it } from 'vitest';
import { codeOf } from './error-code.ts';

it('the code of an error is the one that it carries', () => {
  expect(codeOf(Object.assign(new Error('no such file'), { code: 'ENOENT' }))).toBe('ENOENT');
});

it.each([
  ['an error without one', new Error('ENOENT')],
  ['a code that is no text', Object.assign(new Error('parse error'), { code: -32_700 })],
  ['text', 'ENOENT'],
  ['null', null],
  ['nothing', undefined],
])('%s has none', (_of, error) => {
  expect(codeOf(error)).toBe('');
});
