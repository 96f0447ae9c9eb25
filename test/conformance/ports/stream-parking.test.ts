// StreamParking: what replicas with one Redis keep to, and a gateway that is alone.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryStreamParking } from '../../../src/infra/streams/memory-stream-parking.ts';
import { RedisClients } from '../../../src/infra/redis/redis-clients.ts';
import { RedisStreamParking } from '../../../src/infra/streams/redis-stream-parking.ts';
import { SystemClock } from '../../../src/infra/clock/system-clock.ts';
import { recordingLog } from '../../helpers/call-kit.ts';
import { eventually } from '../../helpers/eventually.ts';
import { startRedis, type RedisServer } from '../../helpers/redis.ts';

const NOTHING = { wanted: () => false, replaced: () => undefined };
const newKey = () => `${randomUUID()}_${'a'.repeat(64)}`;

describe('StreamParking: memory', () => {
  it('hands nothing over: there is nobody else', async () => {
    const parking = new MemoryStreamParking();
    await parking.park();
    expect(await parking.take()).toBeUndefined();
  });
});

describe('StreamParking: Redis', () => {
  let server: RedisServer;
  const clients: RedisClients[] = [];
  let one: RedisStreamParking;
  let two: RedisStreamParking;

  async function open(): Promise<RedisStreamParking> {
    const own = new RedisClients({ url: server.url, prefix: 'parking' }, recordingLog());
    clients.push(own);
    await own.connected(5_000);
    return new RedisStreamParking(own, new SystemClock(), recordingLog());
  }

  beforeAll(async () => {
    server = await startRedis();
    [one, two] = [await open(), await open()];
  });

  afterAll(async () => {
    for (const each of clients) each.close();
    await server?.stop();
  });

  it('gives what is parked to one that asks, and to nobody after it', async () => {
    const key = newKey();
    await one.park(key, '{"a":1}', 60_000);
    const given = await Promise.all([two.take(key, 5_000), one.take(key, 5_000)]);
    expect(given.filter((each) => each !== undefined)).toEqual(['{"a":1}']);
  });

  it('has whoever holds it park it, and waits for that', async () => {
    const key = newKey();
    const heard: string[] = [];
    const end = one.serve({
      ...NOTHING,
      wanted: (asked) => {
        heard.push(asked);
        if (asked !== key) return false;
        setImmediate(() => void one.park(key, '{"b":2}', 60_000));
        return true;
      },
    });
    // It hears nothing before it is subscribed.
    const given = await eventually(async () => (await two.take(key, 5_000)) ?? false);
    expect(given).toBe('{"b":2}');
    expect(heard).toContain(key);
    end();
  });

  it('is told soon that nobody has it', async () => {
    expect(await two.take(newKey(), 60_000)).toBeUndefined();
  });

  it('tells the others of a session that has another stream', async () => {
    const session = `ses_${randomUUID()}`;
    const by = randomUUID();
    const heard: string[] = [];
    const end = two.serve({ ...NOTHING, replaced: (...said) => void heard.push(said.join(' ')) });
    await eventually(() => {
      one.replace(session, by);
      expect(heard).toContain(`${session} ${by}`);
    });
    end();
  });
});
