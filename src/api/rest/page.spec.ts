// Paging: every item once, in order, whatever the size; foreign tokens are refused.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { pageOf, pageSize } from './page.ts';

const namesOf = (items: readonly { name: string }[]) => items.map(({ name }) => name);

it('walking the pages visits every item once, in order', () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z_.]{1,12}$/), { maxLength: 40 });
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 45 }), (list, size) => {
      const items = list.toSorted().map((name) => ({ name }));
      const visited: string[] = [];
      let token: string | undefined;
      do {
        const { page, nextToken } = pageOf(items, size, token);
        expect(page.length).toBeLessThanOrEqual(size);
        visited.push(...namesOf(page));
        token = nextToken === '' ? undefined : nextToken;
      } while (token !== undefined);
      expect(visited).toEqual(namesOf(items));
    }),
  );
});

it('goes on at the right place when the last item of the page before has gone', () => {
  const items = ['a', 'b', 'c', 'd'].map((name) => ({ name }));
  const { nextToken } = pageOf(items, 2, undefined);
  const without = items.filter(({ name }) => name !== 'b');
  expect(namesOf(pageOf(without, 2, nextToken).page)).toEqual(['c', 'd']);
});

it('reads a size from 1 up and bounds it', () => {
  expect([pageSize(undefined), pageSize('7'), pageSize('999999')]).toEqual([100, 7, 1000]);
  for (const text of ['0', '-1', '1.5', 'all', '', '9999999'])
    expect(() => pageSize(text)).toThrow('/page_size');
});

it.each(['', ' ', 'a b', '../..', 'x'.repeat(401)])('refuses the token %j', (token) => {
  expect(() => pageOf([{ name: 'a' }], 1, token)).toThrow('/page_token');
});
