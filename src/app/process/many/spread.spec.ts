// Spread: connections that are open are as many in each process as in the next, whatever ends and whoever comes.
import { array, assert, constant, constantFrom, oneof, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Spread } from './spread.ts';

function spreadOver(processes: readonly number[]): Spread {
  const spread = new Spread();
  for (const process of processes) spread.add(process);
  return spread;
}

describe('a spread of connections', () => {
  it('goes in turns where all hold as many', () => {
    const spread = spreadOver([1, 2, 3]);
    expect(Array.from({ length: 6 }, () => spread.take('rest'))).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it('counts each door for itself', () => {
    const spread = spreadOver([1, 2]);
    expect([spread.take('rest'), spread.take('grpc'), spread.take('grpc')]).toEqual([1, 1, 2]);
  });

  it('fills up a process that was started again', () => {
    const spread = spreadOver([1, 2]);
    for (let n = 0; n < 8; n += 1) spread.take('rest');
    spread.remove(2);
    spread.add(2);
    expect(Array.from({ length: 5 }, () => spread.take('rest'))).toEqual([2, 2, 2, 2, 1]);
  });

  it('gives nothing away where nobody serves', () => {
    expect(spreadOver([]).take('rest')).toBeUndefined();
  });

  it('never lets a new connection go to a process that holds more than another', () => {
    const step = oneof(constant('take' as const), constantFrom(1, 2, 3));
    assert(
      property(array(step, { maxLength: 60 }), (steps) => {
        const spread = spreadOver([1, 2, 3]);
        const open = new Map([1, 2, 3].map((process) => [process, 0]));
        let unfair = 0;
        for (const each of steps) {
          if (each === 'take') {
            const taken = spread.take('rest') ?? 0;
            if (open.get(taken) !== Math.min(...open.values())) unfair += 1;
            open.set(taken, (open.get(taken) ?? 0) + 1);
          } else if ((open.get(each) ?? 0) > 0) {
            spread.closed(each, 'rest', 1);
            open.set(each, (open.get(each) ?? 0) - 1);
          }
        }
        expect(unfair).toBe(0);
      }),
    );
  });
});
