// Looks at the Redis server at boot: refuses what cannot work, and warns of what can lose limits and queues.
import type { RedisClient } from './connect-redis.ts';
import type { Log } from '../../ports/telemetry/log.ts';

/** Throws Error for the operator. A server that does not let itself be looked at is taken as it is; of a cluster, one node is. */
export async function checkRedisServer(redis: RedisClient, log: Log, isCluster = false): Promise<void> {
  const info = await factsOf(redis);
  if (info.get('cluster_enabled') === '1' && !isCluster)
    throw new Error(
      'redis.url leads to a node of a Redis Cluster: set redis.mode: cluster, so that keys are asked for where they lie.',
    );
  const policy = info.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    log.warn(
      { maxmemory_policy: policy },
      'Redis may evict keys: limits and queued jobs can be lost; set maxmemory-policy noeviction',
    );
  if (info.get('aof_enabled') === '0' && (await savesNothing(redis)))
    log.warn(
      {},
      'Redis keeps nothing on disk: a restart loses limits and queued jobs; set appendonly yes and appendfsync everysec',
    );
}

async function factsOf(redis: RedisClient): Promise<ReadonlyMap<string, string>> {
  const text = await redis.info().catch(() => '');
  const pairs = text.split('\r\n').map((line) => line.split(':', 2));
  return new Map(pairs.map(([name = '', value = '']) => [name, value]));
}

async function savesNothing(redis: RedisClient): Promise<boolean> {
  try {
    const found: unknown = await redis.config('GET', 'save');
    const value = Array.isArray(found) ? found[1] : (found as Record<string, unknown>)['save'];
    return value === '';
  } catch {
    // Managed servers forbid CONFIG; how they keep data is their operator's business.
    return false;
  }
}
