// What is special to the memory twin: which entry goes first, and what is counted. The rest is in the suite of the port.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { MemoryResultCache } from './memory-result-cache.ts';

const TERMS = { token: 't', lifeMs: 60_000 };
const QUESTION = { token: 't', leadMs: 1_000, staleMs: 0, maxBytes: 1_000 };

describe('MemoryResultCache', () => {
  it('drops what was not used for the longest time', async () => {
    const cache = new MemoryResultCache(new FakeClock(), { maxEntries: 2, maxBytes: 1_000 });
    await cache.keep('a', '1', TERMS);
    await cache.keep('b', '2', TERMS);
    await cache.look('a', QUESTION);
    await cache.keep('c', '3', TERMS);
    expect((await cache.look('a', QUESTION)).value).toBe('1');
    expect((await cache.look('b', QUESTION)).value).toBeUndefined();
    expect(cache.size).toEqual({ entries: 2, bytes: 4 });
  });

  it('counts bytes and not characters', async () => {
    const cache = new MemoryResultCache(new FakeClock(), { maxEntries: 9, maxBytes: 10 });
    await cache.keep('k', '☕☕☕', TERMS);
    expect(cache.size).toEqual({ entries: 1, bytes: 10 });
    await cache.keep('k', '☕☕☕☕', TERMS);
    expect(cache.size).toEqual({ entries: 0, bytes: 0 });
  });

  it('gives the bytes of an entry back once its end is seen', async () => {
    const clock = new FakeClock();
    const cache = new MemoryResultCache(clock, { maxEntries: 9, maxBytes: 1_000 });
    await cache.keep('k', 'value', TERMS);
    await clock.advance(60_000);
    await cache.look('k', QUESTION);
    expect(cache.size).toEqual({ entries: 0, bytes: 0 });
  });

  it('remembers a bounded number of leads', async () => {
    const cache = new MemoryResultCache(new FakeClock(), { maxEntries: 2, maxBytes: 1_000 });
    for (const key of ['a', 'b', 'c']) await cache.look(key, QUESTION);
    expect(await cache.look('c', { ...QUESTION, token: 'other' })).toMatchObject({ lead: false });
    expect(await cache.look('a', { ...QUESTION, token: 'other' })).toMatchObject({ lead: true });
  });
});
