// What replicas share through Redis, or one process keeps for itself in memory: limits, cached answers, hints of reloads.
import type { AdmissionControl } from '../../ports/admission-control.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { RegistryHints } from '../../ports/registry/registry-hints.ts';
import type { ResultCache } from '../../ports/result-cache.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { MemoryAdmissionControl } from '../../infra/admission/memory/memory-admission-control.ts';
import { MemoryRegistryHints } from '../../infra/hints/memory-registry-hints.ts';
import { MemoryResultCache } from '../../infra/cache/memory-result-cache.ts';
import { openRedisAdmission } from '../../infra/admission/redis/open-redis-admission.ts';
import type { RedisClients } from '../../infra/redis/redis-clients.ts';
import { RedisRegistryHints } from '../../infra/hints/redis-registry-hints.ts';
import { RedisResultCache } from '../../infra/cache/redis-result-cache.ts';

export interface Coordination {
  /** Undefined: there is no Redis. */
  readonly redis: RedisClients | undefined;
  readonly admission: AdmissionControl;
  readonly resultCache: ResultCache;
  readonly registryHints: RegistryHints;
  /** There is a Redis, and it cannot be asked. */
  isAway(): boolean;
  close(): Promise<void>;
}

const MAX_CACHE_ENTRIES = 50_000;

/** Throws Error when the Redis that is named cannot work. */
export async function openCoordination(
  { redis: { url, prefix, command_timeout_ms: commandTimeoutMs }, limits }: Settings,
  deps: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): Promise<Coordination> {
  const { clock, log } = deps;
  const bounds = { maxEntries: MAX_CACHE_ENTRIES, maxBytes: limits.max_cache_bytes };
  if (url === undefined) {
    const admission = new MemoryAdmissionControl(clock);
    const resultCache = new MemoryResultCache(clock, bounds);
    const registryHints = new MemoryRegistryHints(clock);
    const close = () => admission.close();
    return { redis: undefined, admission, resultCache, registryHints, isAway: () => false, close };
  }
  // The client is loaded where there is something to talk to: it takes its time and its memory.
  const { RedisClients } = await import('../../infra/redis/redis-clients.ts');
  const redis = new RedisClients({ url, prefix, commandTimeoutMs }, log);
  const admission = await openRedisAdmission({ ...deps, clients: redis });
  return {
    redis,
    admission,
    resultCache: new RedisResultCache(redis, clock, bounds),
    registryHints: new RedisRegistryHints(redis, log),
    isAway: () => admission.isAway,
    async close() {
      await admission.close();
      redis.close();
    },
  };
}
