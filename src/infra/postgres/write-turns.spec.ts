// WriteTurns: one at a time, in order, and nobody waits for ever.
import { describe, expect, it } from 'vitest';
import { WriteTurns } from './write-turns.ts';

describe('WriteTurns', () => {
  it('runs one write at a time, in their order, whatever becomes of each', async () => {
    const turns = new WriteTurns(() => 0);
    const seen: string[] = [];
    let running = 0;
    const write = (name: string, fails = false) =>
      turns.run(async () => {
        running += 1;
        seen.push(`${name} of ${running}`);
        await Promise.resolve();
        running -= 1;
        if (fails) throw new Error(name);
        return name;
      });
    const ended = await Promise.allSettled([write('a'), write('b', true), write('c')]);
    expect(seen).toEqual(['a of 1', 'b of 1', 'c of 1']);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('refuses who has waited for more than two seconds, and who comes when two hundred wait', async () => {
    let now = 0;
    const turns = new WriteTurns(() => now);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = turns.run(() => promise);
    await Promise.resolve();
    const late = Array.from({ length: 200 }, () => turns.run(async () => 'written'));
    await expect(turns.run(async () => 'written')).rejects.toMatchObject({ reason: 'DATABASE_UNAVAILABLE' });
    now = 2_001;
    resolve();
    await first;
    const ended = await Promise.allSettled(late);
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(await turns.run(async () => 'written')).toBe('written');
  });
});
