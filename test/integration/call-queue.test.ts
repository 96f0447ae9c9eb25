// BullMqCallQueue on a real Redis: a waiting call is announced to a replica with capacity, and only the id is in Redis.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { BullMqCallQueue } from '../../src/infra/calls/queue/bullmq-call-queue.ts';
import { RedisClients } from '../../src/infra/redis/redis-clients.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { quietLog } from '../helpers/quiet-log.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';

let server: RedisServer;
const opened: { queue: BullMqCallQueue; redis: RedisClients }[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterEach(async () => {
  for (const { queue, redis } of opened.splice(0)) {
    await queue.close();
    redis.close();
  }
  await server.client.flushall();
});
afterAll(() => server.stop());

async function replica(hasCapacity: boolean) {
  const redis = new RedisClients({ url: server.url, prefix: 'ute' }, quietLog);
  await redis.connected(5_000);
  const queue = new BullMqCallQueue({ redis, clock: new SystemClock(), log: quietLog });
  opened.push({ queue, redis });
  const own = { queue, hasCapacity, heard: [] as string[] };
  queue.start((id) => {
    own.heard.push(id);
    return own.hasCapacity;
  });
  return own;
}

it('a call that its own replica has capacity for is not put into Redis', async () => {
  const one = await replica(true);
  one.queue.offer('call-1');
  expect(one.heard).toEqual(['call-1']);
  await pause(100);
  expect(
    (await server.client.keys('ute:calls:*')).filter(
      (key) => !/:(meta|marker|stalled-check|events)$/.test(key),
    ),
  ).toEqual([]);
});

it('a call that its own replica is too full for comes to one that has capacity', async () => {
  const [full, free] = [await replica(false), await replica(true)];
  full.queue.offer('call-1');
  await expect.poll(() => free.heard).toContain('call-1');
});

it('a full replica hears no more until it listens again, and what it was told is not lost', async () => {
  const one = await replica(false);
  one.queue.pass('call-1');
  await expect.poll(() => one.heard).toEqual(['call-1']);
  await pause(300);
  expect(one.heard.length).toBeLessThanOrEqual(2);
  one.hasCapacity = true;
  one.queue.listen();
  await expect.poll(() => one.heard.length).toBeGreaterThanOrEqual(2);
});

it('of a thousand calls that wait, few jobs are in Redis, and nothing but an id in each', async () => {
  const full = await replica(false);
  for (let index = 0; index < 1_000; index += 1) full.queue.offer(`call-${index}`);
  await pause(300);
  const jobs = (await server.client.keys('ute:calls:*')).filter((key) => /\.\d+$/.test(key));
  expect(jobs.length).toBeGreaterThan(0);
  expect(jobs.length).toBeLessThanOrEqual(8);
  for (const key of jobs) expect(await server.client.hget(key, 'data')).toMatch(/^\{"id":"call-\d+"\}$/);
});
