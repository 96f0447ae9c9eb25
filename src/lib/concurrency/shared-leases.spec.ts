import { expect, it } from 'vitest';
import { SharedLeases } from './shared-leases.ts';

it('a thing is opened once for all who want it, and closed behind the last of them, once', async () => {
  const closed: string[] = [];
  const leases = new SharedLeases<string>(async (held) => void closed.push(held));
  let opened = 0;
  const open = () => `thing ${(opened += 1)}`;
  const [one, other] = [leases.lease('a', open), leases.lease('a', open)];
  expect([one.held, other.held, opened]).toEqual(['thing 1', 'thing 1', 1]);
  await one.release();
  await one.release();
  expect(closed).toEqual([]);
  await other.release();
  expect(closed).toEqual(['thing 1']);
  expect(leases.lease('a', open).held).toBe('thing 2');
});

it('another key is another thing', () => {
  const leases = new SharedLeases<object>(async () => undefined);
  expect(leases.lease('a', () => ({})).held).not.toBe(leases.lease('b', () => ({})).held);
});
