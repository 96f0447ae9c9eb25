// Changes between two JSON values: applied to the first they give the second, and equal values have none.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalHash } from './canonical-json.ts';
import { jsonChanges } from './json-changes.ts';

it('names what was added, taken away and altered, by its place', () => {
  const before = { description: 'Reads.', inputSchema: { properties: { path: {}, 'a/b': 1 } } };
  const after = { description: 'Sends.', inputSchema: { properties: { path: {} } }, title: 'New' };
  expect(jsonChanges(before, after)).toEqual([
    { pointer: '/description', before: 'Reads.', after: 'Sends.' },
    { pointer: '/inputSchema/properties/a~1b', before: 1 },
    { pointer: '/title', after: 'New' },
  ]);
});

it('finds none where the keys are in another order alone, and some wherever there is a difference', () => {
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as never);
  fc.assert(
    fc.property(json, json, (one, other) => {
      expect(jsonChanges(one, structuredClone(one))).toEqual([]);
      const differ = canonicalHash(one) !== canonicalHash(other);
      expect(jsonChanges(one, other).length > 0).toBe(differ);
    }),
  );
});

it('stops at its bound', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, at]));
  expect(jsonChanges({}, many, 20)).toHaveLength(20);
});
