import { expect, it } from 'vitest';
import { grownMemory } from './grown-memory.ts';

it('memory with room enough is the same, and a larger one keeps what is in use', () => {
  const memory = Buffer.from('abcdef');
  expect(grownMemory(memory, 4, 2)).toBe(memory);
  const twice = grownMemory(memory, 6, 1);
  expect([twice.length, twice.toString('latin1', 0, 6)]).toEqual([12, 'abcdef']);
  const much = grownMemory(memory, 3, 100);
  expect([much.length, much.toString('latin1', 0, 3)]).toEqual([103, 'abc']);
});
