// Specs of FairQueue.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const anyone = () => true;

describe('FairQueue', () => {
  it('serves lanes in turn and each lane first in, first out', () => {
    const queue = filled(['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
    expect(drained(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('passes over who cannot be served, without taking the turn away', () => {
    const queue = filled(['a1', 'b1', 'b2']);
    expect(queue.find((item) => item !== 'a1')).toBe('b1');
    queue.leave('b', 'b1', true);
    expect(queue.find(anyone)).toBe('a1');
  });

  it('lets go of who leaves, in any place, and ends no turn by that', () => {
    const queue = filled(['a1', 'a2', 'b1']);
    queue.leave('a', 'a1', false);
    queue.leave('a', 'a1', false);
    queue.leave('nobody', 'x', false);
    expect(queue.size).toBe(2);
    expect(drained(queue)).toEqual(['a2', 'b1']);
  });

  it('serves every lane once per round, whatever the lengths: nobody waits for more than the others once', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 60 }), (lanes) => {
        const items = lanes.map((lane, index) => `${lane}${index}`);
        const order = drained(filled(items));
        const rounds = new Map<string, number>();
        const roundOf = order.map((item) => {
          const round = (rounds.get(item.charAt(0)) ?? 0) + 1;
          rounds.set(item.charAt(0), round);
          return round;
        });
        expect(order.toSorted()).toEqual(items.toSorted());
        expect(roundOf).toEqual(roundOf.toSorted((one, other) => one - other));
        for (const lane of rounds.keys()) {
          const inLane = (item: string) => item.startsWith(lane);
          expect(order.filter(inLane)).toEqual(items.filter(inLane));
        }
      }),
    );
  });
});

/** The first letter of an item is its lane. */
function filled(items: readonly string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const item of items) queue.join(item.charAt(0), item);
  return queue;
}

function drained(queue: FairQueue<string>): string[] {
  const order: string[] = [];
  for (let item = queue.find(anyone); item !== undefined; item = queue.find(anyone)) {
    order.push(item);
    queue.leave(item.charAt(0), item, true);
  }
  return order;
}
