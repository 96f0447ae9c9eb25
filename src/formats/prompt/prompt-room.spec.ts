import { expect, it } from 'vitest';
import { PromptRoom } from './prompt-room.ts';

it('has room for so many parts, and for none after them', () => {
  const room = new PromptRoom();
  let taken = 0;
  while (room.take()) taken += 1;
  expect([taken, room.isFull, room.take()]).toEqual([4_000, true, false]);
});

it('leaves out what comes after a text that is too long for it, however short that is', () => {
  const room = new PromptRoom();
  const half = 'x'.repeat(65 * 1024);
  expect([room.take(half), room.take(half), room.take('x')]).toEqual([true, false, false]);
  expect(room.isFull).toBe(true);
});
