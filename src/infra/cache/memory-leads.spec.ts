// One holder of a key at a time: held to a model of it, with a clock that a test moves.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { MemoryLeads } from './memory-leads.ts';

it('a key is led by one at a time, until it is released or its life is over', () => {
  const key = fc.constantFrom('a', 'b', '__proto__');
  const token = fc.constantFrom('1', '2', '3');
  const step = fc.oneof(
    fc.record({ act: fc.constant('take' as const), key, token, lifeMs: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ act: fc.constant('release' as const), key, token }),
    fc.record({ act: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 20 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const clock = new FakeClock();
      const leads = new MemoryLeads(clock, 10);
      const model = new Map<string, { token: string; until: number }>();
      const told: boolean[] = [];
      const expected: boolean[] = [];
      for (const each of steps) {
        if (each.act === 'wait') clock.jumpTo(clock.now() + each.ms);
        else if (each.act === 'release') {
          leads.release(each.key, each.token);
          if (model.get(each.key)?.token === each.token) model.delete(each.key);
        } else {
          const held = model.get(each.key);
          const isFree = held === undefined || held.until <= clock.now() || held.token === each.token;
          told.push(leads.take(each.key, each.token, each.lifeMs));
          expected.push(isFree);
          if (isFree) model.set(each.key, { token: each.token, until: clock.now() + each.lifeMs });
        }
      }
      expect(told).toEqual(expected);
    }),
  );
});

it('of more than may be kept those that were taken longest ago are free again, and no others', () => {
  const leads = new MemoryLeads(new FakeClock(), 3);
  for (const key of ['a', 'b', 'c']) leads.take(key, 'first', 1_000);
  // Taken again by its holder: it is no longer the oldest.
  expect(leads.take('a', 'first', 1_000)).toBe(true);
  expect(leads.take('d', 'first', 1_000)).toBe(true);
  expect(['a', 'c', 'd'].map((key) => leads.take(key, 'second', 1_000))).toEqual([false, false, false]);
  expect(leads.take('b', 'second', 1_000)).toBe(true);
});
