// SharedTurns: never more at once than there are slots, and a tenant that asks for all of them leaves some to others.
import { expect, it } from 'vitest';
import { SharedTurns } from './shared-turns.ts';

const passed = () => new Promise((next) => setImmediate(next));

function bench(most: number) {
  const turns = new SharedTurns(most);
  const running: string[] = [];
  const ends: (() => void)[] = [];
  const begin = (tenant: string) =>
    turns.run(tenant, async () => {
      running.push(tenant);
      await new Promise<void>((end) => ends.push(end));
      running.splice(running.indexOf(tenant), 1);
    });
  return { begin, running, endFirst: () => ends.shift()?.() };
}

it('one tenant cannot hold all slots: another one begins at once, and none goes beyond', async () => {
  const { begin, running, endFirst } = bench(32);
  const greedy = Array.from({ length: 100 }, () => begin('greedy'));
  await passed();
  const held = running.length;
  expect(held).toBeLessThan(32);
  const other = begin('other');
  await passed();
  expect(running.filter((tenant) => tenant === 'other')).toHaveLength(1);
  for (let ended = 0; ended <= 100; ended += 1) {
    expect(running.length).toBeLessThanOrEqual(32);
    endFirst();
    await passed();
  }
  await Promise.all([...greedy, other]);
  expect(running).toEqual([]);
});

it('work that fails gives its slot back', async () => {
  const turns = new SharedTurns(1);
  const failing = turns.run('a', () => Promise.reject(new Error('no')));
  const next = turns.run('a', async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});
