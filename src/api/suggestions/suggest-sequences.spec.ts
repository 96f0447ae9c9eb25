// What sequences of calls suggest: what to offer next, and what would be one call.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { suggestNext, suggestPlans } from './suggest-sequences.ts';

const every = () => true;
const sequence = (tools: string, sessions: number, calls = sessions) => ({
  tools: tools.split(' '),
  sessions,
  calls,
});

it('what a quarter of the sessions did next is offered, the surest first', () => {
  const found = suggestNext(
    [
      sequence('find', 100),
      sequence('pay', 10),
      sequence('find track', 24),
      sequence('find pay', 25),
      sequence('pay mail', 9),
      sequence('find pay mail', 9),
    ],
    every,
  );
  expect(found.map(({ tools, share }) => [...tools, share])).toEqual([
    ['pay', 'mail', 0.9],
    ['find', 'pay', 0.25],
  ]);
  expect(found[0]?.text).toBe('After pay, mail was called next in 9 of 10 sessions: offer it then.');
});

it('of one tool are what comes after it, and plans with it in them', () => {
  const all = [
    sequence('a', 9),
    sequence('b', 9),
    sequence('a b', 9),
    sequence('b a', 9),
    sequence('b c', 9),
  ];
  const isA = (tool: string) => tool === 'a';
  expect(suggestNext(all, isA).map(({ tools }) => tools)).toEqual([['a', 'b']]);
  expect(suggestPlans(all, isA).map(({ tools }) => tools)).toEqual([
    ['a', 'b'],
    ['b', 'a'],
  ]);
});

it('a part of a sequence that nearly as many sessions had is no plan of its own', () => {
  const all = [sequence('a b c', 8), sequence('a b', 10), sequence('b c', 11), sequence('a b a', 30)];
  expect(suggestPlans(all, every).map(({ tools }) => tools.join(' '))).toEqual(['a b c', 'b c']);
});

it('those that would save most calls come first', () => {
  const all = [sequence('a b', 10, 10), sequence('c d e', 6, 6), sequence('f g', 4, 30)];
  expect(suggestPlans(all, every).map(({ tools }) => tools.join(' '))).toEqual(['f g', 'c d e', 'a b']);
});

it('what of many plans is part of another is found as if each were compared with each', () => {
  const tools = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'ab'), { minLength: 2, maxLength: 5 });
  const counted = fc.record({ tools, sessions: fc.integer({ min: 3, max: 50 }), calls: fc.nat(50) });
  const selector = ({ tools: of }: { tools: readonly string[] }) => of.join(' ');
  const isPart = (part: readonly string[], of: readonly string[]) =>
    of.some((_, at) => part.every((tool, place) => of[at + place] === tool));
  fc.assert(
    fc.property(fc.uniqueArray(counted, { maxLength: 30, selector }), (all) => {
      const kept = suggestPlans(all, every);
      for (const { tools: found, sessions } of all) {
        const longer = kept.filter((plan) => plan.tools.length > found.length && isPart(found, plan.tools));
        const isLeftOut = longer.some((plan) => plan.sessions >= 0.8 * sessions);
        expect(kept.some((plan) => selector(plan) === selector({ tools: found }))).toBe(!isLeftOut);
      }
    }),
  );
});

it('all sequences that are counted at once, none in another, take less than the event loop may be held', () => {
  const names = Array.from({ length: 13 }, (_, place) => `a_tool_with_a_long_name_${place}`);
  const sequenceOf = (length: number, seed: number) => ({
    tools: Array.from({ length }, (_, at) => names[(Math.floor(seed / 7 ** at) + 2 * at) % 13] ?? ''),
    sessions: 10 ** (6 - length),
    calls: 10,
  });
  const all = [2, 3, 4, 5].flatMap((length) =>
    Array.from({ length: 2_000 }, (_, seed) => sequenceOf(length, seed * 3)),
  );
  const begun = performance.now();
  expect(suggestPlans(all, every).length).toBeGreaterThan(1_000);
  // Tens of milliseconds, of a busy machine some hundred; seconds where each was compared with each.
  expect(performance.now() - begun).toBeLessThan(500);
});

it('shares are between 0 and 1, and each plan is of several tools, whatever was counted', () => {
  const tool = fc.constantFrom('a', 'b', 'c');
  const counted = fc.record({
    tools: fc.array(tool, { minLength: 1, maxLength: 5 }),
    sessions: fc.nat(50),
    calls: fc.nat(50),
  });
  fc.assert(
    fc.property(fc.array(counted, { maxLength: 30 }), (all) => {
      for (const { share } of suggestNext(all, every)) {
        expect(share).toBeGreaterThan(0);
        expect(share).toBeLessThanOrEqual(1);
      }
      for (const { tools } of suggestPlans(all, every)) expect(tools.length).toBeGreaterThan(1);
    }),
  );
});
