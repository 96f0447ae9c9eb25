// The admission control on Redis, held to the suite that the in-memory one passes, on a real server.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { startRedis, type RedisServer } from '../../helpers/redis.ts';
import { startReplica } from '../../helpers/redis-admission.ts';
import { describeAdmissionControl } from './admission-control.suite.ts';

let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedis();
});

afterAll(() => redis.stop());

describeAdmissionControl('redis', async () => {
  const replica = await startReplica(redis.url);
  const control = {
    admit: replica.control.admit.bind(replica.control),
    spent: replica.control.spent.bind(replica.control),
    close: () => replica.close(),
  };
  /** Real time, and then whatever is still on its way to the server and back. */
  async function pass(ms: number): Promise<void> {
    await pause(ms);
    for (let turn = 0; turn < 3; turn += 1) await redis.client.ping();
  }
  return { control, pass };
});
