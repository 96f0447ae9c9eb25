// Members of a form: what a rule says has its effect, with a style or without one.
import { expect, it } from 'vitest';
import type { JsonValue } from '../../../contract/json.ts';
import { httpOptionsSchema } from '../options-schema.ts';
import type { Violation } from './argument-text.ts';
import { encodeBody } from './body-parts.ts';

const LIST = ['a', 'b'];
const OBJECT = { R: 100, G: 200 };

it.each<[object | undefined, JsonValue, string]>([
  [undefined, LIST, 'm=a&m=b'],
  [undefined, OBJECT, 'm=%7B%22R%22%3A100%2C%22G%22%3A200%7D'],
  [{}, LIST, 'm=a&m=b'],
  [{ explode: true }, LIST, 'm=a&m=b'],
  [{ explode: false }, LIST, 'm=a,b'],
  [{ explode: true }, OBJECT, 'R=100&G=200'],
  [{ explode: false }, OBJECT, 'm=R,100,G,200'],
  [{ style: 'json' }, LIST, 'm=%5B%22a%22%2C%22b%22%5D'],
  [{ style: 'deepObject', lists: 'brackets' }, { x: LIST }, 'm[x][]=a&m[x][]=b'],
])('%j writes %j as %s', (rule, value, written) => {
  const request = httpOptionsSchema.parse({
    url: 'https://api.example/',
    method: 'POST',
    body: '{content}',
    body_as: 'form',
    ...(rule !== undefined && { body_parts: { m: rule } }),
  });
  const violations: Violation[] = [];
  expect(encodeBody({ m: value }, request, violations)).toBe(written);
  expect(violations).toEqual([]);
});
