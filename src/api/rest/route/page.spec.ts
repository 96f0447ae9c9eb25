// Paging: every item once, in order, whatever the size; foreign tokens are refused.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { pageOf, paging } from './page.ts';

const nameOf = ({ name }: { name: string }) => name;
const query = z.object(paging());
const namesOf = (items: readonly { name: string }[]) => items.map(nameOf);

it('walking the pages visits every item once, in order', () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z_.]{1,12}$/), { maxLength: 40 });
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 45 }), (list, size) => {
      const items = list.toSorted().map((name) => ({ name }));
      const visited: string[] = [];
      let token: string | undefined;
      do {
        const asked = query.parse({ page_size: String(size), page_token: token });
        const { page, next_page_token: next } = pageOf(items, nameOf, asked);
        expect(page.length).toBeLessThanOrEqual(size);
        visited.push(...namesOf(page));
        token = next === '' ? undefined : next;
      } while (token !== undefined);
      expect(visited).toEqual(namesOf(items));
    }),
  );
});

it('goes on at the right place when the last item of the page before has gone', () => {
  const items = ['a', 'b', 'c', 'd'].map((name) => ({ name }));
  const { next_page_token: next } = pageOf(items, nameOf, { page_size: 2 });
  const without = items.filter(({ name }) => name !== 'b');
  expect(namesOf(pageOf(without, nameOf, query.parse({ page_size: '2', page_token: next })).page)).toEqual([
    'c',
    'd',
  ]);
});

it('reads a size from 1 up and bounds it', () => {
  const sizes = [undefined, '7', '999999', '9'.repeat(400)].map(
    (said) => query.parse({ page_size: said }).page_size,
  );
  expect(sizes).toEqual([100, 7, 1000, 1000]);
  for (const text of ['0', '-1', '1.5', 'all', ''])
    expect(() => query.parse({ page_size: text })).toThrow('must be a whole number from 1 to 1000');
});

it.each(['', ' ', 'a b', '../..', 'x'.repeat(401)])('refuses the token %j', (token) => {
  expect(() => query.parse({ page_token: token })).toThrow('must be a next_page_token of this list');
});
