// RedisResultCache on a real Redis: the suite of its port, and what else may stand in a Redis.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisClients } from '../../../src/infra/redis/redis-clients.ts';
import { RedisResultCache } from '../../../src/infra/cache/redis-result-cache.ts';
import { SystemClock } from '../../../src/infra/clock/system-clock.ts';
import { recordingLog } from '../../helpers/call-kit.ts';
import { startRedis, type RedisServer } from '../../helpers/redis.ts';
import { describeResultCache, type Bounds } from './result-cache.suite.ts';

let server: RedisServer;
let clients: RedisClients;

beforeAll(async () => {
  server = await startRedis();
  // A busy machine is no store that is away.
  clients = new RedisClients({ url: server.url, prefix: 'ute', commandTimeoutMs: 20_000 }, recordingLog());
  await clients.connected(5_000);
});

afterAll(async () => {
  clients?.close();
  await server?.stop();
});

/** A prefix of its own for each cache: nothing of another is in its way. */
function newCache(bounds: Bounds) {
  const prefix = `t-${randomUUID()}`.slice(0, 30);
  const own = { prefixOf: () => prefix, coordination: clients.coordination };
  return { prefix, cache: new RedisResultCache(own, new SystemClock(), bounds) };
}

describeResultCache('Redis', async (bounds) => ({
  cache: newCache(bounds).cache,
  pass: (ms) => pause(ms),
}));

const ROOMY = { maxEntries: 100, maxBytes: 100_000 };
const QUESTION = { token: 't', leadMs: 60_000, staleMs: 0, maxBytes: 1_000 };

describe('RedisResultCache', () => {
  it.each([
    ['a list', (key: string) => server.client.rpush(key, 'x')],
    ['a value without an end', (key: string) => server.client.set(key, 'forever')],
    ['a value of megabytes', (key: string) => server.client.set(key, 'x'.repeat(2 << 20), 'PX', 60_000)],
    [
      'bytes that are no text',
      (key: string) => server.client.set(key, Buffer.from([0xff, 0xfe, 0x22]), 'PX', 60_000),
    ],
  ])('takes %s at the key for no answer, and keeps one over it', async (_what, plant) => {
    const { prefix, cache } = newCache(ROOMY);
    await plant(`${prefix}:cache:entry:k`);
    const { value, lead } = await cache.look('k', QUESTION);
    expect({ value, lead }).toEqual({ value: undefined, lead: true });
    await cache.keep('k', 'good', { token: 't', lifeMs: 60_000 });
    expect(await cache.look('k', QUESTION)).toMatchObject({ value: 'good', fresh: true });
  });

  it('goes on when something of another type stands where the lead should', async () => {
    const { prefix, cache } = newCache(ROOMY);
    await server.client.rpush(`${prefix}:cache:lead:k`, 'x');
    expect(await cache.look('k', QUESTION)).toMatchObject({ fresh: false, lead: false });
    await cache.keep('k', 'v', { token: 't', lifeMs: 60_000 });
    expect(await cache.look('k', QUESTION)).toMatchObject({ value: 'v', fresh: true });
  });

  it('leaves nothing in Redis that does not end', async () => {
    const { prefix, cache } = newCache(ROOMY);
    for (let index = 0; index < 5; index += 1) {
      await cache.look(`k${index}`, QUESTION);
      await cache.keep(`k${index}`, 'v', { token: 't', lifeMs: 60_000 });
    }
    await cache.look('led', QUESTION);
    const keys = await server.client.keys(`${prefix}:*`);
    expect(keys.length).toBe(5 + 1 + 3);
    for (const key of keys) expect(await server.client.pttl(key)).toBeGreaterThan(0);
  });

  it('counts again from nothing after a flush', async () => {
    const { prefix, cache } = newCache({ maxEntries: 2, maxBytes: 1_000 });
    await cache.keep('a', 'v', { token: 't', lifeMs: 60_000 });
    await server.client.del(...(await server.client.keys(`${prefix}:*`)));
    for (const key of ['b', 'c', 'd']) await cache.keep(key, 'v', { token: 't', lifeMs: 60_000 });
    expect(await server.client.keys(`${prefix}:cache:entry:*`)).toHaveLength(2);
    expect(await server.client.get(`${prefix}:cache:bytes`)).toBe('4');
  });

  it('gives what it has while Redis is full, and lets everybody else run', async () => {
    const { cache } = newCache(ROOMY);
    await cache.keep('k', 'v', { token: 't', lifeMs: 60_000 });
    await server.client.config('SET', 'maxmemory', '1');
    try {
      expect(await cache.look('k', QUESTION)).toMatchObject({ value: 'v', fresh: true });
      expect(await cache.look('other', QUESTION)).toMatchObject({ fresh: false, lead: true });
      await expect(cache.keep('other', 'v', { token: 't', lifeMs: 60_000 })).rejects.toThrow('OOM');
    } finally {
      await server.client.config('SET', 'maxmemory', '0');
    }
  });

  it('costs one command for a look, a hit or not, and one to keep', async () => {
    const { cache } = newCache(ROOMY);
    await cache.look('warm', QUESTION);
    await cache.keep('warm', 'v', { token: 't', lifeMs: 60_000 });
    const before = await commandsRun();
    await cache.look('k', QUESTION);
    await cache.keep('k', 'v', { token: 't', lifeMs: 60_000 });
    await cache.look('k', QUESTION);
    expect((await commandsRun()) - before).toBe(3);
  });
});

async function commandsRun(): Promise<number> {
  const stats = await server.client.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}
