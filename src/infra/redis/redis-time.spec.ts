// RedisTime: until when a script is worth running, by what Redis last said.
import { afterEach, expect, it, vi } from 'vitest';
import { RedisTime } from './redis-time.ts';

afterEach(() => void vi.restoreAllMocks());

it('is by the time of Redis, whatever that is, and follows it when it is set', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  const time = new RedisTime(300);
  expect(time.worthUntil()).toBe(0);
  time.observe(5_000_000, 900);
  expect(time.worthUntil()).toBe(5_000_400);
  now.mockReturnValue(2_000);
  expect(time.worthUntil()).toBe(5_001_400);
  time.observe(4_000, 2_000);
  expect(time.worthUntil()).toBe(4_300);
});
