// The one sleep that is real: the thread stands still meanwhile.
import { expect, it } from 'vitest';
import { holdThread } from './hold-thread.ts';

it('returns when the time is over, and nothing else has run on the thread until then', () => {
  let turned = false;
  setTimeout(() => (turned = true), 1);
  const began = performance.now();
  holdThread(5);
  expect(performance.now() - began).toBeGreaterThan(4);
  expect(turned).toBe(false);
});
