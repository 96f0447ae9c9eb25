// Texts of a message with what no text may hold are refused by the name of their field, at any depth.
import { expect, it } from 'vitest';
import { checkTexts } from './check-texts.ts';

it.each([
  [{ userId: 'a\0b' }, '/user_id', 'NUL'],
  [{ page: { filters: [{ toolName: 'a\0' }] } }, '/page/filters/0/tool_name', 'NUL'],
  [{ note: '\ud800' }, '/note', 'LONE_SURROGATE'],
])('%j is refused at %s', (message, pointer, reason) => {
  const violation: unknown = expect.objectContaining({ pointer });
  const refusal = { type: 'VALIDATION', reason, details: { violations: [violation] } };
  expect(() => checkTexts(message)).toThrow(expect.objectContaining(refusal));
});

it('bytes, numbers, and fields that are excepted are left alone', () => {
  const message = { id: 'a\0b', limit: 1, after: null, json: Buffer.from('\0'), text: 'plain' };
  expect(() => checkTexts(message, new Set(['/id']))).not.toThrow();
});
