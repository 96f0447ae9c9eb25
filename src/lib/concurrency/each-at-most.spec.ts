// eachAtMost: no more at once than said, in order, and all of them.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { eachAtMost } from './each-at-most.ts';

it('whatever ends first, results are in the order of the items, and no more are under way than said', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 6 }),
      async (turns, most) => {
        let underWay = 0;
        let seen = 0;
        const results = await eachAtMost(most, turns, async (turn, index) => {
          underWay += 1;
          seen = Math.max(seen, underWay);
          for (let step = 0; step < turn; step += 1) await Promise.resolve();
          underWay -= 1;
          return index;
        });
        expect(results).toEqual(turns.map((_turn, index) => index));
        expect(seen).toBe(Math.min(most, turns.length));
      },
    ),
  );
});

it('what fails is told', async () => {
  await expect(eachAtMost(2, [1, 2, 3], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});
