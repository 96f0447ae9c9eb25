// Specs of OwnCallQueue.
import { describe, expect, it } from 'vitest';
import { OwnCallQueue } from './own-call-queue.ts';

describe('OwnCallQueue', () => {
  it('brings word at once from the start on, and none after the end', async () => {
    const queue = new OwnCallQueue();
    const heard: string[] = [];
    queue.offer('before');
    queue.start((id) => heard.push(id) > 0);
    queue.offer('between');
    await queue.close();
    queue.offer('after');
    expect(heard).toEqual(['between']);
  });
});
