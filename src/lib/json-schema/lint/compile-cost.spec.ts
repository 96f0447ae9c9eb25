// isSlowToCompile: what people write is compiled where it is needed, and nothing that would hold the event loop is.
import { expect, it } from 'vitest';
import { isSlowToCompile } from './compile-cost.ts';

const objectOf = (count: number, member: (at: number) => object) => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, member(at)])),
});

it.each([
  ['an empty one', {}],
  ['one of forty members', objectOf(40, () => ({ type: 'string', description: 'x', maxLength: 100 }))],
  ['one of ten patterns', objectOf(10, (at) => ({ type: 'string', pattern: `^[a-z]{1,20}-${at}$` }))],
  ['a member that is called pattern', objectOf(2, () => ({ properties: { pattern: { type: 'string' } } }))],
])('is not said of %s', (_what, schema) => {
  expect(isSlowToCompile(schema)).toBe(false);
});

it.each([
  ['many members', objectOf(300, () => ({ type: 'string' }))],
  [
    'many branches',
    { anyOf: Array.from({ length: 150 }, (_, at) => ({ properties: { a: { const: at } } })) },
  ],
  ['a few patterns that are large', objectOf(4, (at) => ({ pattern: `^[a-z]{1,${900 + at}}$` }))],
  ['names by large patterns', { patternProperties: { '^\\p{L}{1,500}$': {} } }],
])('is said of one with %s', (_what, schema) => {
  expect(isSlowToCompile(schema)).toBe(true);
});

it('is said before much of a large one is looked at', () => {
  const large = objectOf(50_000, () => ({ type: 'string' }));
  isSlowToCompile(large);
  const began = process.cpuUsage().user;
  isSlowToCompile(large);
  expect(process.cpuUsage().user - began).toBeLessThan(50_000);
});
