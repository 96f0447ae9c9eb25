// The two ways to keep state, as settings: what is embedded, and a Redis and a PostgreSQL of the test's own.
import { startPostgres } from './postgres.ts';
import { startRedis, type RedisServer } from './redis.ts';

export interface Stores {
  readonly settings: Readonly<Record<string, unknown>>;
  /** Absent: embedded. */
  readonly redis?: RedisServer;
  stop(): Promise<void>;
}

function embeddedStores(): Promise<Stores> {
  return Promise.resolve({ settings: {}, stop: () => Promise.resolve() });
}

export async function sharedStores(): Promise<Stores> {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  return {
    settings: { redis: { url: redis.url }, database: { url: postgres.url() } },
    redis,
    async stop() {
      await Promise.all([redis.stop(), postgres.stop()]);
    },
  };
}

/** For `describe.each`: what holds on one has to hold on the other. */
export const STORES = [
  ['embedded defaults', embeddedStores],
  ['Redis and PostgreSQL', sharedStores],
] as const;
