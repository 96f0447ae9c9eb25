import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PacedStarts } from './paced-starts.ts';

function started() {
  const starts = new PacedStarts();
  const begun: number[] = [];
  const begin = (name: number, bytes: number) =>
    starts.run(bytes, async () => {
      begun.push(name);
      return name;
    });
  return { begun, begin };
}

describe('calls that arrive together', () => {
  it('begin at once while they bring little', () => {
    const { begun, begin } = started();
    for (let at = 0; at < 1_000; at += 1) void begin(at, 100);
    expect(begun).toHaveLength(1_000);
  });

  it('begin turn by turn where they bring much, in their order, and each is answered', async () => {
    const { begun, begin } = started();
    const answers = Array.from({ length: 30 }, (_, at) => begin(at, 10_000));
    expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
    await yieldToLoop();
    expect(begun.length).toBeLessThan(30);
    const all = Array.from({ length: 30 }, (_, at) => at);
    expect(await Promise.all(answers)).toEqual(all);
    expect(begun).toEqual(all);
  });

  it('do not delay the one that comes a turn later', async () => {
    const { begun, begin } = started();
    await begin(0, 1_000_000);
    await yieldToLoop();
    void begin(1, 1_000_000);
    expect(begun).toEqual([0, 1]);
  });
});
