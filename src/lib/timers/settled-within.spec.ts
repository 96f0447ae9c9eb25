import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { settledWithin } from './settled-within.ts';

it('ends with the work, whatever comes of it, and leaves no timer behind', async () => {
  const clock = new FakeClock();
  await settledWithin(clock, 50, Promise.resolve('done'));
  await settledWithin(clock, 50, Promise.reject(new Error('no')));
  expect(clock.pendingTimers).toBe(0);
});

it('waits no longer than its time for work that does not end', async () => {
  const clock = new FakeClock();
  let isOver = false;
  const waiting = settledWithin(clock, 50, new Promise(() => undefined)).then(() => (isOver = true));
  await clock.advance(49);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await waiting;
});
