// OneByOne: in turn for one key, at once for others, and going on after what failed.
import { expect, it } from 'vitest';
import { OneByOne } from './one-by-one.ts';

it('work of one key never overlaps, in the order in which it came; that of another key does not wait', async () => {
  const turns = new OneByOne();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const all = [
    turns.run('a', async () => {
      await first.promise;
      done.push('a1');
    }),
    turns.run('a', async () => void done.push('a2')),
    turns.run('b', async () => void done.push('b1')),
  ];
  await all[2];
  expect(done).toEqual(['b1']);
  first.resolve();
  await Promise.all(all);
  expect(done).toEqual(['b1', 'a1', 'a2']);
});

it('what fails holds up nobody', async () => {
  const turns = new OneByOne();
  const failing = turns.run('a', () => Promise.reject(new Error('no')));
  const next = turns.run('a', async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});
