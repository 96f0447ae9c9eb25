// Followed: what keys and agents have in common; what each of them has in force is held by their own specs.
import { expect, it } from 'vitest';
import { recordingLog } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { Followed } from './followed.ts';

function setUp(look: () => Promise<void>) {
  const clock = new FakeClock(1_000);
  const log = recordingLog();
  const unread = { value: 0, set: (value: number) => void (unread.value = value), add: () => undefined };
  const says = { away: 'they are away', back: 'they are back' };
  const followed = new Followed({ clock, log, unread, says, look });
  return { clock, log, unread, followed };
}

it('a look without an answer is told of after three seconds, once, and so is its end', async () => {
  let answer: () => void = () => undefined;
  let hangs = false;
  const look = () => (hangs ? new Promise<void>((resolve) => (answer = resolve)) : Promise.resolve());
  const { clock, log, unread, followed } = setUp(look);
  await followed.start();
  hangs = true;
  await clock.advance(1_500);
  expect(followed.isAway).toBe(false);
  await clock.advance(10_000);
  expect([followed.isAway, unread.value]).toEqual([true, 1]);
  hangs = false;
  answer();
  await followed.check();
  expect([followed.isAway, unread.value]).toEqual([false, 0]);
  expect(log.lines.map(({ message }) => message)).toEqual(['they are away', 'they are back']);
  followed.stop();
});

it('nothing is looked for, and nothing is told, once it is stopped', async () => {
  let looks = 0;
  const { clock, log, followed } = setUp(async () => void (looks += 1));
  await followed.start();
  followed.stop();
  await followed.check();
  await clock.advance(10_000);
  expect([looks, log.lines]).toEqual([1, []]);
  expect(clock.pendingTimers).toBe(0);
});
