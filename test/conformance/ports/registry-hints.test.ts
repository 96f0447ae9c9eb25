// RegistryHints on a real Redis: the suite of every twin, and what others may have written there.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { MemoryRegistryHints } from '../../../src/infra/hints/memory-registry-hints.ts';
import { RedisClients } from '../../../src/infra/redis/redis-clients.ts';
import { RedisRegistryHints } from '../../../src/infra/hints/redis-registry-hints.ts';
import { recordingLog } from '../../helpers/call-kit.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { startRedis, type RedisServer } from '../../helpers/redis.ts';
import { describeRegistryHints } from './registry-hints.suite.ts';
import { eventually } from '../../helpers/eventually.ts';

let server: RedisServer;
let benches = 0;

beforeAll(async () => {
  server = await startRedis();
});

afterAll(() => server?.stop());

async function sides() {
  const prefix = `hints${(benches += 1)}`;
  const log = recordingLog();
  const clients = [1, 2].map(() => new RedisClients({ url: server.url, prefix }, log));
  await Promise.all(clients.map((each) => each.connected(5_000)));
  const [one, two] = clients.map((each) => new RedisRegistryHints(each, log));
  if (one === undefined || two === undefined) throw new Error('there are two');
  const close = async () => clients.forEach((each) => each.close());
  return { one, two, prefix, log, close };
}

describeRegistryHints('memory', async () => {
  const clock = new FakeClock();
  const hints = new MemoryRegistryHints(clock);
  return { one: hints, two: hints, pass: (ms) => clock.advance(ms) };
});

describeRegistryHints('Redis', async () => {
  const { one, two, prefix, close } = await sides();
  // Redis's own clock cannot be moved: what was seen is moved into the past.
  const pass = async (ms: number) => {
    const key = `${prefix}:registry:seen`;
    for (const id of await server.client.zrange(key, '0', '-1'))
      await server.client.zincrby(key, String(-ms), id);
  };
  return { one, two, pass, close };
});

it('what others wrote there is left out, and a hint that is none is not passed on', async () => {
  const { one, two, prefix, log, close } = await sides();
  const heard: unknown[] = [];
  two.onHint((state) => heard.push(state));
  const { client } = server;
  await one.heartbeat({ id: 'a', version: 'v', hash: 'h' });
  const now = Date.now();
  for (const [id, text] of [
    ['x', 'not JSON'],
    ['y', '{"id":1}'],
    ['z', `"${'z'.repeat(10_000)}"`],
  ] as const) {
    await client.hset(`${prefix}:registry:replicas`, id, text);
    await client.zadd(`${prefix}:registry:seen`, now, id);
  }
  expect((await one.heartbeat({ id: 'a', version: 'v', hash: 'h' })).map(({ id }) => id)).toEqual(['a']);
  await eventually(async () => {
    await client.publish(`${prefix}:registry:hints`, 'not JSON');
    expect(log.lines.some(({ message }) => message.startsWith('a message of another replica'))).toBe(true);
  });
  expect(heard).toEqual([]);
  await close();
});

it('everything it keeps ends by itself', async () => {
  const { one, prefix, close } = await sides();
  await one.heartbeat({ id: 'a', version: 'v', hash: 'h' });
  const keys = await server.client.keys(`${prefix}:*`);
  expect(keys).toHaveLength(2);
  for (const key of keys) expect(await server.client.pttl(key)).toBeGreaterThan(0);
  await close();
});

it('after a restart of Redis, hints are heard and replicas seen again', async () => {
  const { one, two, close } = await sides();
  const heard: string[] = [];
  two.onHint(({ id }) => heard.push(id));
  await server.restart();
  await eventually(async () => {
    await one.announce({ id: 'a', version: 'v', hash: 'h' });
    expect(heard).toContain('a');
  });
  expect(await one.heartbeat({ id: 'a', version: 'v', hash: 'h' })).toHaveLength(1);
  await close();
});

it('a subscription that is refused after a reconnection is logged, ends nothing, and is asked for again with the next one', async () => {
  const { one, two, prefix, log, close } = await sides();
  const unhandled = vi.fn<(reason: unknown) => void>();
  process.on('unhandledRejection', unhandled);
  const heard: string[] = [];
  two.onHint(({ id }) => heard.push(id));
  const { client } = server;
  const connection = async () => {
    const list = String(await client.call('CLIENT', 'LIST'));
    return new RegExp(`id=(\\d+) .*name=${prefix}:subscriber `).exec(list)?.[1];
  };
  await eventually(async () => {
    await one.announce({ id: 'first', version: 'v', hash: 'h' });
    expect(heard).toContain('first');
  });
  try {
    await client.call('ACL', 'SETUSER', 'default', '-subscribe');
    await client.call('CLIENT', 'KILL', 'ID', String(await connection()));
    await eventually(async () =>
      expect(log.lines.map(({ message }) => message)).toContain('hints of other replicas are not heard'),
    );
  } finally {
    await client.call('ACL', 'SETUSER', 'default', '+subscribe');
  }
  await client.call('CLIENT', 'KILL', 'ID', String(await connection()));
  await eventually(async () => {
    await one.announce({ id: 'second', version: 'v', hash: 'h' });
    expect(heard).toContain('second');
  });
  expect(unhandled).not.toHaveBeenCalled();
  process.off('unhandledRejection', unhandled);
  await close();
});
