// SessionSteps, held to what it keeps in memory and on a real Redis.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../src/infra/clock/system-clock.ts';
import { RedisClients } from '../../../src/infra/redis/redis-clients.ts';
import { MemorySessionSteps } from '../../../src/infra/session-steps/memory-session-steps.ts';
import { RedisSessionSteps } from '../../../src/infra/session-steps/redis-session-steps.ts';
import type { SessionSteps } from '../../../src/ports/sessions/session-steps.ts';
import { recordingLog } from '../../helpers/call-kit.ts';
import { startRedis, type RedisServer } from '../../helpers/redis.ts';

let server: RedisServer;
let clients: RedisClients;

beforeAll(async () => {
  server = await startRedis();
  clients = new RedisClients({ url: server.url, prefix: 'steps', commandTimeoutMs: 20_000 }, recordingLog());
  await clients.connected(5_000);
});
afterAll(async () => {
  clients?.close();
  await server?.stop();
});

const of = (id: string, tenant = 'acme') => ({ tenant, id });

const MADE: Readonly<Record<string, () => SessionSteps>> = {
  memory: () => new MemorySessionSteps(new SystemClock()),
  Redis: () => new RedisSessionSteps(clients),
};

describe.each(Object.keys(MADE))('SessionSteps: %s', (name) => {
  const made = () => MADE[name]?.() ?? expect.fail(`there is no ${name}`);
  const taken = async (steps: SessionSteps, session: string) => [
    ...(await steps.taken(of(session), ['called a*', 'succeeded b', 'called c'])),
  ];

  it('tells what was taken and when, the last time, of each session by itself', async () => {
    const steps = made();
    expect(await taken(steps, 'one')).toEqual([]);
    await steps.mark(of('one'), ['called a*']);
    await pause(50);
    await steps.mark(of('two'), ['called c']);
    const [[, aged] = []] = await taken(steps, 'one');
    expect(aged).toBeGreaterThanOrEqual(49);
    await steps.mark(of('one'), ['called a*', 'succeeded b']);
    const [first, second, ...more] = await taken(steps, 'one');
    expect([first?.[0], second?.[0], more]).toEqual(['called a*', 'succeeded b', []]);
    // Both were taken together, the last time.
    expect(first?.[1]).toBe(second?.[1]);
    expect((await taken(steps, 'two')).map(([step]) => step)).toEqual(['called c']);
  });

  it('loses nothing of what is marked at once', async () => {
    const steps = made();
    const names = Array.from({ length: 50 }, (_, number) => `called ${number}`);
    await Promise.all(names.map((step) => steps.mark(of('many'), [step])));
    expect((await steps.taken(of('many'), names)).size).toBe(50);
  });
});

it('in Redis the steps of a session end a day after its last one', async () => {
  const steps = new RedisSessionSteps(clients);
  await steps.mark(of('ends'), ['called a']);
  const left = await server.client.pttl('steps:steps:ends');
  expect(left).toBeGreaterThan(86_300_000);
  expect(left).toBeLessThanOrEqual(86_400_000);
});

it('in Redis what is no step of ours is none', async () => {
  await server.client.hset('steps:steps:odd', 'called a', 'never');
  expect((await new RedisSessionSteps(clients).taken(of('odd'), ['called a'])).size).toBe(0);
});

it('in Redis one tenant leaves room for others, and what is over leaves room for its own', async () => {
  const steps = new RedisSessionSteps(clients, 2);
  for (const id of ['f1', 'f2', 'f1']) await steps.mark(of(id, 'full'), ['called a']);
  await expect(steps.mark(of('f3', 'full'), ['called a'])).rejects.toThrow('no further session');
  await steps.mark(of('f4', 'other'), ['called a']);
  await server.client.zadd('steps:stepping:full', 1, 'f1');
  await steps.mark(of('f3', 'full'), ['called a']);
});
