// A load that brings many statements: each is inspected, and a server that does not answer is waited for once.
import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { InspectionQueue } from './inspection-queue.ts';

describe('InspectionQueue', () => {
  it('runs all that is asked of it, and never more at one time than it may', async () => {
    const queue = new InspectionQueue(3);
    let running = 0;
    let most = 0;
    const work = async (index: number) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      if (index % 2 === 0) throw new Error('a bad statement');
      return index;
    };
    const asked = Array.from({ length: 50 }, (_, index) => queue.run(() => work(index)));
    const settled = await Promise.allSettled(asked);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(25);
    expect(most).toBe(3);
    expect(await queue.run(async () => 'later')).toBe('later');
  });

  it('a server that does not answer refuses all that wait, and is asked again by the next', async () => {
    const queue = new InspectionQueue(2);
    let attempts = 0;
    const away = async () => {
      attempts += 1;
      await Promise.resolve();
      throw new ToolFailure('UNAVAILABLE', 'No connection to the database could be made.');
    };
    const settled = await Promise.allSettled(Array.from({ length: 50 }, () => queue.run(away)));
    expect(settled.every(({ status }) => status === 'rejected')).toBe(true);
    expect(attempts).toBe(2);
    await expect(queue.run(away)).rejects.toMatchObject({ type: 'UNAVAILABLE' });
    expect(attempts).toBe(3);
  });
});
