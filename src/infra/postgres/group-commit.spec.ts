// GroupCommit: what comes together goes together, bounded; nobody fails for what another brought.
import { describe, expect, it } from 'vitest';
import { settled } from '../../../test/helpers/fake-clock.ts';
import { GroupCommit } from './group-commit.ts';

const dataError = Object.assign(new Error('bad data'), { code: '22P02' });

function setUp(bounds: Partial<ConstructorParameters<typeof GroupCommit<number, number>>[1]> = {}) {
  const groups: (readonly number[])[] = [];
  const group = new GroupCommit<number, number>(
    async (items) => {
      groups.push(items);
      await settled();
      if (items.includes(13)) throw dataError;
      return items.map((item) => item * 2);
    },
    { maxItems: 10, ...bounds },
  );
  return { group, groups };
}

describe('GroupCommit', () => {
  it.each([
    ['gathered', { gather: settled }],
    ['not gathered', {}],
  ])('answers each for itself, in groups of bounded size (%s)', async (_name, bounds) => {
    const { group, groups } = setUp(bounds);
    const items = Array.from({ length: 25 }, (_, index) => index + 100);
    expect(await Promise.all(items.map((item) => group.run(item)))).toEqual(items.map((item) => item * 2));
    expect(groups.map((each) => each.length)).toEqual([10, 10, 5]);
  });

  it('keeps a group below a weight, and lets a single heavier one through', async () => {
    const { group, groups } = setUp({ maxWeight: 10, weigh: (item) => item });
    await Promise.all([4, 5, 6, 40, 1].map((item) => group.run(item)));
    expect(groups).toEqual([[4, 5], [6], [40], [1]]);
  });

  it('lets one that cannot be written fail alone', async () => {
    const { group } = setUp();
    const outcomes = await Promise.allSettled([11, 12, 13, 14].map((item) => group.run(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  });

  it('gathers after a large group those that come a moment later, and does not hold up a single one', async () => {
    const { promise: isGathered, resolve: endGathering } = Promise.withResolvers<void>();
    const { group, groups } = setUp({ gather: () => isGathered });
    await Promise.all(Array.from({ length: 6 }, (_, index) => group.run(index)));
    const first = group.run(1);
    await settled();
    const second = group.run(2);
    endGathering();
    await Promise.all([first, second]);
    await group.run(3);
    expect(groups.map((each) => each.length)).toEqual([6, 2, 1]);
  });

  it('never gathers after a few, nor while a full group waits', async () => {
    let gathered = 0;
    const { group } = setUp({
      gather: async () => {
        gathered += 1;
      },
    });
    await Promise.all([1, 2, 3, 4].map((item) => group.run(item)));
    expect(gathered).toBe(0);
    await Promise.all(Array.from({ length: 20 }, () => group.run(1)));
    expect(gathered).toBe(1);
  });
});
